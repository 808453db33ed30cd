/** What an address says of a conversation that is to be begun. */
export interface BeginSearch {
  /** The flow that it is held with. */
  flow?: string;
  /** The program that it is about. */
  program?: string;
}
