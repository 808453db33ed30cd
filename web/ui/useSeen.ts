import { useEffect, useState, type RefObject } from 'react';

/** Whether an element has come into sight; what costs the server something is asked of what is looked at. */
export function useSeen(element: RefObject<Element | null>): boolean {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const watch = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      setSeen(true);
      watch.disconnect();
    });
    if (element.current) watch.observe(element.current);
    return () => watch.disconnect();
  }, [element]);
  return seen;
}
