import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';

/** A command line to copy. */
export function Command({ children }: { children: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => {
    // Without a secure origin there is no clipboard; the text can still be selected.
    void navigator.clipboard?.writeText(children).then(() => setCopied(true));
  };
  return (
    <div className="command">
      <code>{children}</code>
      <button type="button" className="button plain icon" onClick={copy} aria-label={`Copy “${children}”`}>
        {copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
      </button>
    </div>
  );
}
