import { X } from 'lucide-react';
import { useEffect, useId, useState, type FormEvent } from 'react';

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
  const [author, setAuthor] = useState(search.author ?? '');
  const [touching, setTouching] = useState(search.touching ?? '');
  // An address can change from elsewhere.
  useEffect(() => setAuthor(search.author ?? ''), [search.author]);
  useEffect(() => setTouching(search.touching ?? ''), [search.touching]);

  const apply = (parts: Partial<Record<keyof HistorySearch, string>>) =>
    onChange(searchOf({ ...search, author: author.trim(), touching: touching.trim(), ...parts }));
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
          onChange={(event) => setAuthor(event.target.value)}
          onBlur={() => author.trim() !== (search.author ?? '') && apply({})}
        />
        <datalist id={`${id}authors`}>
          {authors.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </label>
      <label>
        <span className="hidden">Touching an entity, by ref or path</span>
        <input
          className="field mono"
          placeholder="touching n12 or m::f"
          value={touching}
          onChange={(event) => setTouching(event.target.value)}
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
