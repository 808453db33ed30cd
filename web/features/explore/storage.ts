/** Where GraphiQL keeps lists of what was run, each with the headers of then. */
const LISTS = ['graphiql:queries', 'graphiql:favorites', 'graphiql:tabState'];

/** A list without headers: there is a token in them. Null says so; tabs that have no such field are not taken back. */
export function withoutHeaders(list: string): string {
  return JSON.stringify(JSON.parse(list, (name, value) => (name === 'headers' ? null : value)));
}

/** Keeps in the browser what is typed, but no headers. */
export const storage = {
  get length() {
    return window.localStorage.length;
  },
  getItem: (key: string) => window.localStorage.getItem(key),
  setItem: (key: string, value: string) =>
    window.localStorage.setItem(key, LISTS.includes(key) ? withoutHeaders(value) : value),
  removeItem: (key: string) => window.localStorage.removeItem(key),
  clear: () => window.localStorage.clear(),
};
