import { KEYS } from './keys';

/** The list of the inbox's keys. */
export function KeyList({ dialog }: { dialog: React.RefObject<HTMLDialogElement | null> }) {
  return (
    <dialog ref={dialog} className="dialog inbox-keys" aria-labelledby="inbox-keys-title">
      <h2 id="inbox-keys-title">Keys</h2>
      <dl>
        {KEYS.map(({ keys, what }) => (
          <div key={keys}>
            <dt>{keys.split(' ').map((key) => (key === '–' ? ' – ' : <kbd key={key}>{key}</kbd>))}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p className="muted">They work while the focus is in the inbox, and not in a field.</p>
      <form method="dialog" className="acts">
        <span className="gap" />
        <button type="submit" className="button">
          Close
        </button>
      </form>
    </dialog>
  );
}
