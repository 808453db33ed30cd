/** More characters than these are no headline. */
const LONGEST = 200;

/** The beginning of a text that is too long to stand whole: its first line, as far as that fits; null for one that is short. */
export function headOf(text: string): string | null {
  const [first = ''] = text.trimEnd().split('\n', 1);
  if (first.length <= LONGEST) return first.length < text.trimEnd().length ? first : null;
  const cut = first.lastIndexOf(' ', LONGEST);
  return first.slice(0, cut > LONGEST / 2 ? cut : LONGEST);
}
