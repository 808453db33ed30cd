import { partsOf } from './message';

/** A message of the server: names that it quotes are written as code. */
export function Message({ children }: { children: string }) {
  return partsOf(children).map(({ text, code }, at) =>
    // Parts have no names; the message is replaced as a whole.
    code ? <code key={at}>{text}</code> : text,
  );
}
