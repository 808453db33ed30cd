/** What an address says of a type beside its name. */
export interface TypeSearch {
  /** The revision that is looked at; without it the head, which moves. */
  rev?: number;
  /** The field or variant that is selected, by ref. */
  member?: string;
}
