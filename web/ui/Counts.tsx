/** How many entities were added, removed and modified, each with a sign of its own. */
export function Counts({ added, removed, modified }: { added: number; removed: number; modified: number }) {
  const parts = [
    { sign: '+', count: added, word: 'added' },
    { sign: '−', count: removed, word: 'removed' },
    { sign: '~', count: modified, word: 'modified' },
  ].filter(({ count }) => count > 0);
  if (parts.length === 0) return <span className="muted">no entities</span>;
  return (
    <span className="counts">
      {parts.map(({ sign, count, word }) => (
        <span key={word} className={word} title={`${count.toLocaleString('en')} ${word}`}>
          <span aria-hidden>
            {sign}
            {count.toLocaleString('en')}
          </span>
          <span className="hidden">
            {count.toLocaleString('en')} {word}
          </span>
        </span>
      ))}
    </span>
  );
}
