import { X } from 'lucide-react';
import { useId, useState, type FormEvent } from 'react';

import type { Branch } from './model';
import { searchOf, type HistorySearch } from './search';

/** Chooses which revisions the timeline shows. */
export function Filters(props: {
  search: HistorySearch;
  branches: readonly Branch[];
  authors: readonly string[];
  onChange(search: HistorySearch): void;
}) {
  const { search, branches, authors, onChange } = props;
  const id = useId();
  /** What is typed and not applied yet. */
  const [typed, setTyped] = useState<{ author?: string; touching?: string }>({});
  const author = typed.author ?? search.author ?? '';
  const touching = typed.touching ?? search.touching ?? '';

  const apply = (parts: Partial<Record<keyof HistorySearch, string>>) => {
    setTyped({});
    onChange(searchOf({ ...search, author: author.trim(), touching: touching.trim(), ...parts }));
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    apply({});
  };
  const filtered = search.author !== undefined || search.touching !== undefined;
  return (
    <form className="filters" onSubmit={submit} aria-label="Which revisions are shown">
      <label>
        <span className="hidden">Branch</span>
        <select
          className="field"
          value={search.branch ?? ''}
          onChange={(event) => apply({ branch: event.target.value })}
        >
          <option value="">All branches</option>
          {search.branch !== undefined && !branches.some(({ name }) => name === search.branch) && (
            <option>{search.branch}</option>
          )}
          {branches.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label>
        <span className="hidden">Author</span>
        <input
          className="field"
          placeholder="Author"
          list={`${id}authors`}
          value={author}
          onChange={(event) => setTyped({ ...typed, author: event.target.value })}
          onBlur={() => author.trim() !== (search.author ?? '') && apply({})}
        />
        <datalist id={`${id}authors`}>
          {authors.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </datalist>
      </label>
      <label>
        <span className="hidden">Touching an entity, by ref or path</span>
        <input
          className="field mono"
          placeholder="touching n12 or m::f"
          value={touching}
          onChange={(event) => setTyped({ ...typed, touching: event.target.value })}
          onBlur={() => touching.trim() !== (search.touching ?? '') && apply({})}
          spellCheck={false}
        />
      </label>
      <button type="submit" className="hidden">
        Filter
      </button>
      {filtered && (
        <button type="button" className="button plain" onClick={() => apply({ author: '', touching: '' })}>
          <X size={13} aria-hidden />
          Clear
        </button>
      )}
    </form>
  );
}
