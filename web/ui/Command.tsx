import { CopyButton } from './CopyButton';

/** A command line to copy. */
export function Command({ children }: { children: string }) {
  return (
    <div className="command">
      <code>{children}</code>
      <CopyButton text={children} />
    </div>
  );
}
