// Views are loaded when they are first shown, each a file of its own.

/** What browsers, and the loader that the build adds, say of a file of the page that did not come. */
const NOT_LOADED =
  /unable to preload|failed to fetch dynamically imported module|error loading dynamically imported module|importing a module script failed/i;

/** Whether an error means that a part of the page did not arrive. */
export function isNotLoaded(error: unknown): boolean {
  return error instanceof Error && NOT_LOADED.test(error.message);
}
