import { Minus, Plus } from 'lucide-react';

import { blank, outOfRange, slip, type Draft } from './inputs';
import { shapeOf, type Shape, type TypeInfo } from './types';

/** What a field of the form needs. */
interface FieldProps {
  /** The id of its first control. */
  id: string;
  label: string;
  type: string;
  types: readonly TypeInfo[];
  draft: Draft;
  /** Whether what is wrong is told. */
  strict: boolean;
  onChange(draft: Draft): void;
}

/** A value of a type: one control, or a group of them. */
export function ValueField(props: FieldProps) {
  const { id, label, type, types, draft, strict, onChange } = props;
  const shape = shapeOf(type, types);
  const wrong = strict ? slip(shape, draft) : outOfRange(shape, draft);
  const told = wrong === null ? {} : { 'aria-invalid': true, 'aria-describedby': `${id}-wrong` };
  const text = (text: string) => onChange({ ...draft, text } as Draft);
  const single = (control: React.ReactNode) => (
    <div className="value">
      <label htmlFor={id} className="value-name">
        <span className="mono">{label}</span> <code className="muted">{type}</code>
      </label>
      {control}
      {wrong && (
        <p id={`${id}-wrong`} className="value-wrong">
          {wrong}
        </p>
      )}
    </div>
  );

  switch (draft.kind) {
    case 'unit':
      return (
        <p>
          <span className="mono">{label}</span> <code className="muted">unit</code>
        </p>
      );
    case 'bool':
      return (
        <label className="value check">
          <input
            id={id}
            type="checkbox"
            checked={draft.on}
            onChange={(event) => onChange({ kind: 'bool', on: event.target.checked })}
          />
          <span className="mono">{label}</span> <code className="muted">bool</code>
        </label>
      );
    case 'text':
      if (shape.kind === 'string')
        return single(
          <textarea
            id={id}
            className="field mono"
            rows={Math.min(6, draft.text.split('\n').length)}
            value={draft.text}
            spellCheck={false}
            onChange={(event) => text(event.target.value)}
          />,
        );
      return single(
        <input
          id={id}
          className="field mono"
          inputMode={shape.kind === 'int' ? 'numeric' : 'decimal'}
          autoComplete="off"
          value={draft.text}
          onChange={(event) => text(event.target.value)}
          {...told}
        />,
      );
    case 'literal':
      return single(
        <textarea
          id={id}
          className="field mono"
          rows={Math.min(6, 1 + Math.floor(draft.text.length / 60))}
          value={draft.text}
          spellCheck={false}
          placeholder="in the text form"
          onChange={(event) => text(event.target.value)}
          {...told}
        />,
      );
    case 'bytes':
      return single(
        <div className="value-row">
          <input
            id={id}
            className="field mono"
            autoComplete="off"
            spellCheck={false}
            value={draft.text}
            onChange={(event) => text(event.target.value)}
            {...told}
          />
          <select
            className="field"
            aria-label={`How ${label} is written`}
            value={draft.as}
            onChange={(event) => onChange({ ...draft, as: event.target.value === 'hex' ? 'hex' : 'text' })}
          >
            <option value="text">as text</option>
            <option value="hex">as hex</option>
          </select>
        </div>,
      );
    case 'list':
      return shape.kind === 'struct' ? (
        <fieldset className="value-group">
          <legend>
            <span className="mono">{label}</span> <code className="muted">{type}</code>
          </legend>
          {shape.fields.map((field, at) => (
            <ValueField
              key={field.name}
              id={`${id}.${field.name}`}
              label={field.name}
              type={field.type}
              types={types}
              draft={draft.items[at] ?? blank(shapeOf(field.type, types), types)}
              strict={strict}
              onChange={(item) => onChange({ kind: 'list', items: draft.items.with(at, item) })}
            />
          ))}
        </fieldset>
      ) : (
        <Elements {...props} shape={shape} draft={draft} />
      );
    case 'choice': {
      const ways = shape.kind === 'choice' ? shape.ways : [];
      const way = ways[draft.at];
      const choose = (at: number) => {
        const payload = ways[at]?.payload ?? null;
        onChange({ kind: 'choice', at, payload: payload === null ? null : blank(shapeOf(payload, types), types) });
      };
      return (
        <div className={draft.payload ? 'value-group' : undefined}>
          {single(
            <select
              id={id}
              className="field mono"
              value={draft.at}
              onChange={(event) => choose(Number(event.target.value))}
            >
              {ways.map(({ name }, at) => (
                <option key={name} value={at}>
                  {name}
                </option>
              ))}
            </select>,
          )}
          {way?.payload && draft.payload && (
            <ValueField
              id={`${id}.${way.name}`}
              label={way.name}
              type={way.payload}
              types={types}
              draft={draft.payload}
              strict={strict}
              onChange={(payload) => onChange({ ...draft, payload })}
            />
          )}
        </div>
      );
    }
  }
}

function Elements(props: FieldProps & { shape: Shape; draft: Draft & { kind: 'list' } }) {
  const { id, label, type, types, draft, strict, shape, onChange } = props;
  if (shape.kind !== 'array') return null;
  const { items } = draft;
  const fixed = shape.length !== null;
  return (
    <fieldset className="value-group">
      <legend>
        <span className="mono">{label}</span> <code className="muted">{type}</code>
      </legend>
      {items.map((item, at) => (
        // Elements have no names but their positions.
        <div key={at} className="value-row">
          <div className="grow">
            <ValueField
              id={`${id}.${at}`}
              label={String(at)}
              type={shape.of}
              types={types}
              draft={item}
              strict={strict}
              onChange={(next) => onChange({ kind: 'list', items: items.with(at, next) })}
            />
          </div>
          {!fixed && (
            <button
              type="button"
              className="button plain icon"
              aria-label={`Remove element ${at} of ${label}`}
              onClick={() => onChange({ kind: 'list', items: items.toSpliced(at, 1) })}
            >
              <Minus size={14} aria-hidden />
            </button>
          )}
        </div>
      ))}
      {!fixed && (
        <div>
          <button
            type="button"
            className="button"
            onClick={() => onChange({ kind: 'list', items: [...items, blank(shapeOf(shape.of, types), types)] })}
          >
            <Plus size={14} aria-hidden />
            Add an element
          </button>
        </div>
      )}
    </fieldset>
  );
}
