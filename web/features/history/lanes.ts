// Where the revisions of a timeline stand beside each other: a lane for each branch, newest row first.
import { MAIN, type Item } from './model';

/** A line through a row: from a lane at its top to a lane at its bottom; null where it begins or ends at the dot. */
export interface Strand {
  top: number | null;
  bottom: number | null;
  /** The lane whose colour it has. */
  lane: number;
}

/** A row of the picture. */
export interface Rail {
  /** The lane of the revision's dot. */
  lane: number;
  strands: Strand[];
}

type Placed = Pick<Item, 'number' | 'branch' | 'branchBegunIn' | 'parents' | 'target' | 'kind'>;

/** What tells a branch from others of its name. */
function lineOf({ branch, branchBegunIn }: Placed): string {
  return `${branch} ${branchBegunIn?.number ?? 0}`;
}

/** Lays the rows out; `lanes` is how many stand beside each other at most. */
export function railsOf(items: readonly Placed[]): { rails: Rail[]; lanes: number } {
  const byNumber = new Map(items.map((item) => [item.number, item]));
  /** The lines that have begun and not ended, from above. */
  const lanes = new Map<string, number>();
  /** Lines whose branch begins above, on the way to the revision that it begins with. */
  const leaving: { lane: number; target: number }[] = [];
  let most = 1;

  const take = (line: string): number => {
    const used = new Set([...lanes.values(), ...leaving.map(({ lane }) => lane)]);
    // The first lane is of `main`, whether it is in sight or not.
    let lane = line === `${MAIN} 0` ? 0 : 1;
    while (used.has(lane)) lane += 1;
    lanes.set(line, lane);
    most = Math.max(most, lane + 1);
    return lane;
  };

  const rails = items.map((item): Rail => {
    const line = lineOf(item);
    const begun = lanes.get(line);
    const lane = begun ?? take(line);
    const begins = item.kind === 'BRANCH' && item.branchBegunIn?.number === item.number;
    const first = item.kind === 'CREATE';
    const strands: Strand[] = [];
    for (const other of lanes.values()) if (other !== lane) strands.push({ top: other, bottom: other, lane: other });
    for (const gone of [...leaving]) {
      const ends = gone.target === item.number;
      strands.push({ top: gone.lane, bottom: ends ? null : gone.lane, lane: gone.lane });
      if (ends) leaving.splice(leaving.indexOf(gone), 1);
    }
    if (begun !== undefined) strands.push({ top: lane, bottom: null, lane });
    // A merge draws a line to the branch that it brought in, where that is in sight.
    for (const { number } of item.kind === 'MERGE' ? (item.parents?.slice(1) ?? []) : []) {
      const parent = byNumber.get(number);
      if (!parent || lineOf(parent) === line) continue;
      const from = lanes.get(lineOf(parent)) ?? take(lineOf(parent));
      strands.push({ top: null, bottom: from, lane: from });
    }
    if (begins) {
      lanes.delete(line);
      if (item.target && byNumber.has(item.target.number)) {
        leaving.push({ lane, target: item.target.number });
        strands.push({ top: null, bottom: lane, lane });
      }
    } else if (!first) strands.push({ top: null, bottom: lane, lane });
    return { lane, strands };
  });
  return { rails, lanes: most };
}
