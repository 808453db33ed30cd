/** The place of something that is on its way, as large as that will be. */
export function Skeleton({ width = '100%', height = 16 }: { width?: number | string; height?: number | string }) {
  return <span className="skeleton" style={{ width, height }} />;
}

/** The place of a list that is on its way. */
export function SkeletonRows({ rows, height = 36, label }: { rows: number; height?: number; label: string }) {
  return (
    <output style={{ display: 'grid', gap: 8, padding: 14 }}>
      <span className="hidden">{label}</span>
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} height={height - 8} width={`${96 - ((row * 13) % 30)}%`} />
      ))}
    </output>
  );
}
