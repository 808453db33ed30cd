import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';

/** A button that copies a text; with words on it, or as an icon that says what it copies. */
export function CopyButton({ text, label }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => {
    // Without a secure origin there is no clipboard; the text can still be selected.
    void navigator.clipboard?.writeText(text).then(() => setCopied(true));
  };
  return (
    <button
      type="button"
      className={label ? 'button' : 'button plain icon'}
      onClick={copy}
      aria-label={label ? undefined : `Copy “${text}”`}
    >
      {copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
      {label}
    </button>
  );
}
