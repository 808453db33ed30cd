import { useEffect } from 'react';

/** The name of the page without what waits, and how much that is. */
let name = 'lmlang';
let waiting = 0;

/** The title of the window: what waits for the reader stands first, so that it is seen among other tabs. */
export function titleOf(name: string, waiting: number): string {
  return waiting > 0 ? `(${waiting}) ${name}` : name;
}

function show(): void {
  document.title = titleOf(name, waiting);
}

/** Says what the page is of: `Edits · shop`. */
export function setTitle(of: string): void {
  name = `${of} · lmlang`;
  show();
}

/** Says what the page is of; null where something within says it. */
export function useTitle(of: string | null): void {
  useEffect(() => {
    if (of !== null) setTitle(of);
  }, [of]);
}

const MARK =
  "%3Crect width='16' height='16' rx='4' fill='%233452c9'/%3E%3Ccircle cx='5' cy='5' r='2' fill='%23fff'/%3E" +
  "%3Ccircle cx='11' cy='11' r='2' fill='%23fff'/%3E" +
  "%3Cpath d='M5 7v2a2 2 0 0 0 2 2h2' stroke='%23fff' stroke-width='1.4' fill='none'/%3E";
const DOT = "%3Ccircle cx='12.5' cy='3.5' r='3.5' fill='%23d92d20' stroke='%23fff' stroke-width='1'/%3E";

/** Says how many questions wait for the reader: in the title, and as a dot on the icon. */
export function setWaiting(count: number): void {
  waiting = count;
  show();
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (!icon) return;
  const svg = `%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E${MARK}${count > 0 ? DOT : ''}%3C/svg%3E`;
  icon.href = `data:image/svg+xml,${svg}`;
}
