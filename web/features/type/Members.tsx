import { Message } from '../../ui';
import type { Facts, Member } from './model';
import { TypeText } from './TypeText';

/** What a type consists of: its fields or variants, of which one can be selected to see who uses it. */
export function Members(props: {
  facts: Facts;
  members: readonly Member[];
  /** What was just changed. */
  lit: ReadonlySet<string>;
  selected: string | null;
  onSelect(member: string | null): void;
}) {
  const { facts, members, lit, selected, onSelect } = props;
  const isStruct = facts.kind === 'STRUCT';
  const title = isStruct ? 'Fields' : 'Variants';
  return (
    <section className="panel" aria-labelledby="members-title">
      <div className="panel-head">
        <h2 id="members-title">{title}</h2>
        <span className="end muted numeric">{members.length}</span>
      </div>
      {members.length === 0 ? (
        <p className="panel-body muted">
          {isStruct ? 'It has no fields: all its values are the same.' : 'It has no variants: there is no value of it.'}
        </p>
      ) : (
        <table className="type-members">
          <thead className="hidden">
            <tr>
              <th scope="col">Name</th>
              <th scope="col">{isStruct ? 'Type' : 'Carries'}</th>
              <th scope="col">Ref</th>
            </tr>
          </thead>
          <tbody>
            {members.map(({ ref, name, doc, type }) => {
              const chosen = ref === selected;
              const classes = [chosen && 'selected', lit.has(ref) && 'lit'].filter(Boolean).join(' ');
              return (
                <tr key={ref} id={`member-${ref}`} className={classes || undefined}>
                  <th scope="row">
                    <button
                      type="button"
                      className="link mono"
                      aria-pressed={chosen}
                      title={chosen ? 'Show who uses all of the type' : `Show who uses ${name}`}
                      onClick={() => onSelect(chosen ? null : ref)}
                    >
                      {name}
                    </button>
                    {doc && (
                      <p className="muted">
                        <Message>{doc}</Message>
                      </p>
                    )}
                  </th>
                  <td className="mono">
                    {type === null ? <span className="muted">carries nothing</span> : <TypeText>{type}</TypeText>}
                  </td>
                  <td className="mono muted type-ref">{ref}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </section>
  );
}
