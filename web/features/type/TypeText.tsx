import { Link } from '@tanstack/react-router';
import { createContext, use } from 'react';

import { partsOf, type Resolve } from './model';

/** The program whose types are linked, at which revision; null: types are plain text. */
export const TypeLinks = createContext<{ program: string; rev: number | undefined; resolve: Resolve } | null>(null);

/** A type, or a signature, as it is written: the names in it lead to their types. */
export function TypeText({ children, module = null }: { children: string; module?: string | null }) {
  const links = use(TypeLinks);
  if (!links) return children;
  const { program, rev, resolve } = links;
  return partsOf(children, resolve, module).map(({ text, type }, at) =>
    type === null ? (
      text
    ) : (
      <Link
        // Parts have no names; the text is replaced as a whole.
        key={at}
        to="/p/$program/t/$type"
        params={{ program, type }}
        search={rev === undefined ? {} : { rev }}
        className="type-link"
      >
        {text}
      </Link>
    ),
  );
}
