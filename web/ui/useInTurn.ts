import { useCallback } from 'react';

/**
 * What is given to an element as its `ref` has its children appear in turn while it loads first: below one that is on its
 * way nothing stands that it would move. What is opened later hides nothing.
 */
export function useInTurn(): (element: HTMLElement | null) => (() => void) | undefined {
  return useCallback((element: HTMLElement | null) => {
    if (!element) return;
    element.classList.add('in-turn');
    const look = () => {
      if (element.querySelector('.skeleton')) return;
      element.classList.remove('in-turn');
      watch.disconnect();
    };
    const watch = new MutationObserver(look);
    watch.observe(element, { childList: true, subtree: true });
    look();
    return () => watch.disconnect();
  }, []);
}
