import type { Pages } from '../../lib/pages';
import { counted, ProblemPanel, SkeletonRows } from '../../ui';

type List = Pages<unknown> & { more: (() => void) | undefined; refresh: () => void };

/** What stands in the place of a list that is not there yet. */
export function ListStart({ list, label }: { list: List; label: string }) {
  return list.problem ? (
    <div className="panel-body">
      <ProblemPanel problem={list.problem} onRetry={list.refresh} />
    </div>
  ) : (
    <SkeletonRows rows={2} label={label} />
  );
}

/** What ends a list: the way to more of it, or why that did not come. */
export function ListEnd({ list: { items, total, problem, more, refresh }, what }: { list: List; what: string }) {
  if (problem)
    return (
      <div className="panel-body">
        <ProblemPanel problem={problem} onRetry={more ?? refresh} />
      </div>
    );
  if (!more) return null;
  return (
    <div className="more">
      <button type="button" className="button" onClick={more}>
        Show more: {(items?.length ?? 0).toLocaleString('en')} of {counted(total, what)}
      </button>
    </div>
  );
}
