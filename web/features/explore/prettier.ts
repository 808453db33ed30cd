// Stands in for Prettier, which GraphiQL asks for by these names to prettify what its editors hold: a formatter for every
// language there is would be a tenth of all that the pages take.
import { prettyDocument, prettyJson } from './pretty';

/** Formats as Prettier's function of that name does, in the two languages that the editors speak. */
export async function format(text: string, { parser }: { parser: 'graphql' | 'jsonc' }): Promise<string> {
  return parser === 'graphql' ? prettyDocument(text) : prettyJson(text);
}

/** What Prettier's plugins offer; nothing here looks at it. */
export const parsers = {};
/** As `parsers`. */
export const printers = {};
