import type { Rail } from './lanes';
import type { Item } from './model';

/** The height of a row and the width of a lane in pixels; the style sheet has the same height. */
const ROW = 56;
const LANE = 14;
/** Where the dot of a row stands. */
const DOT = 20;
const LANES = ['var(--accent)', 'var(--teal)', 'var(--violet)', 'var(--warn)', 'var(--ok)'];

const x = (lane: number) => 10 + lane * LANE;
const colour = (lane: number) => LANES[lane % LANES.length];

/** The part of the line of branches that stands beside a row. What it shows stands in words in the row. */
export function RailPicture({ rail, lanes, item }: { rail: Rail; lanes: number; item: Item }) {
  const { lane, strands } = rail;
  return (
    <svg className="rail" width={x(lanes - 1) + 10} height={ROW} aria-hidden>
      {strands.map(({ top, bottom, lane: of }) => (
        <path
          key={`${top} ${bottom}`}
          d={pathOf(top, bottom, lane)}
          stroke={colour(of)}
          strokeWidth="1.6"
          fill="none"
        />
      ))}
      <Dot at={x(lane)} fill={colour(lane) ?? ''} item={item} />
    </svg>
  );
}

function pathOf(top: number | null, bottom: number | null, dot: number): string {
  if (top !== null && bottom !== null) return `M${x(top)} 0V${ROW}`;
  if (top !== null) {
    return top === dot ? `M${x(top)} 0V${DOT}` : `M${x(top)} 0C${x(top)} ${DOT} ${x(top)} ${DOT} ${x(dot)} ${DOT}`;
  }
  const to = bottom ?? dot;
  return to === dot ? `M${x(dot)} ${DOT}V${ROW}` : `M${x(dot)} ${DOT}C${x(to)} ${DOT} ${x(to)} ${DOT} ${x(to)} ${ROW}`;
}

/** A full dot for what counts, a crossed ring for what was undone, a diamond for what only named something. */
function Dot({ at, fill, item }: { at: number; fill: string; item: Item }) {
  const ring = { fill: 'var(--surface)', stroke: fill, strokeWidth: 1.6 };
  if (item.undone)
    return (
      <>
        <circle cx={at} cy={DOT} r="5" {...ring} stroke="var(--muted)" />
        <path d={`M${at - 3.4} ${DOT + 3.4}L${at + 3.4} ${DOT - 3.4}`} stroke="var(--muted)" strokeWidth="1.6" />
      </>
    );
  if (item.kind === 'CHECKPOINT' || item.kind === 'BRANCH')
    return <path d={`M${at} ${DOT - 5.5}l5.5 5.5l-5.5 5.5l-5.5 -5.5z`} {...ring} />;
  if (item.kind === 'EDIT' || item.kind === 'CREATE' || item.kind === 'IMPORT')
    return <circle cx={at} cy={DOT} r="4.5" fill={fill} />;
  return <rect x={at - 4.5} y={DOT - 4.5} width="9" height="9" rx="1.5" fill={fill} />;
}
