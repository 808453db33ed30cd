import { useCallback, useEffect, useState, type Dispatch, type SetStateAction } from 'react';

/** What was entered in views that were left, by what it is for. */
const kept = new Map<string, unknown>();

/**
 * State that is kept while the page lives, so that whoever leaves a view and comes back finds what they entered; the third
 * part forgets it, once it is sent.
 */
export function useKept<Value>(
  key: string,
  initial: () => Value,
): [Value, Dispatch<SetStateAction<Value>>, () => void] {
  const [value, setValue] = useState<Value>(() => (kept.has(key) ? (kept.get(key) as Value) : initial()));
  useEffect(() => {
    kept.set(key, value);
  }, [key, value]);
  const forget = useCallback(() => {
    kept.delete(key);
  }, [key]);
  return [value, setValue, forget];
}
