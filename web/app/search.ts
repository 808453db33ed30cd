import type { ApprovalsSearch } from '../features/approvals';
import type { HistorySearch } from '../features/history';
import type { RunsSearch, RunViewSearch, StartSearch } from '../features/runs';
import type { BeginSearch } from '../features/sessions';
import type { TypeSearch } from '../features/type';
import type { VerifySearch } from '../features/verification';
import type { RunStatus } from '../generated/graphql';

/** What an address says of a function beside its name. All panels share it, so it is the selection. */
export interface FunctionSearch {
  /** The revision that is looked at; without it the head, which moves. */
  rev?: number;
  /** The node that is selected, by ref. */
  node?: string;
}

/** The revision that an address names. */
function revOf(search: Record<string, unknown>): { rev?: number } {
  const rev = Number(search['rev']);
  return Number.isInteger(rev) && rev > 0 ? { rev } : {};
}

/** Reads the part of an address behind the `?`; what makes no sense there is left out. */
export function readFunctionSearch(search: Record<string, unknown>): FunctionSearch {
  const node = search['node'];
  return {
    ...revOf(search),
    ...(typeof node === 'string' && /^[a-z]+\d+$/.test(node) && { node }),
  };
}

/** Reads the part of an address of a type behind the `?`. */
export function readTypeSearch(search: Record<string, unknown>): TypeSearch {
  const { member } = search;
  return { ...revOf(search), ...(typeof member === 'string' && /^d\d+$/.test(member) && { member }) };
}

/** A part of an address that is text. A name that looks like a number arrives as one. */
function textOf<Name extends string>(search: Record<string, unknown>, name: Name): { [Key in Name]?: string } {
  const value = search[name];
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text.trim() !== '' ? ({ [name]: text.trim() } as { [Key in Name]: string }) : {};
}

/** Reads what an address says of a history. */
export function readHistorySearch(search: Record<string, unknown>): HistorySearch {
  const { diff, fn, node } = search;
  return {
    ...textOf(search, 'branch'),
    ...textOf(search, 'author'),
    ...textOf(search, 'touching'),
    ...textOf(search, 'sel'),
    ...((diff === 'text' || diff === 'graph') && { diff }),
    ...(typeof fn === 'string' && /^f\d+$/.test(fn) && { fn }),
    ...(typeof node === 'string' && /^n\d+$/.test(node) && { node }),
  };
}

/** What an address says of a run beside the function. */
export interface RunSearch extends FunctionSearch {
  /** The simulation; without it the form for the inputs of one. */
  sim?: string;
  /** The step that it is to stand before when it is opened. */
  step?: number;
}

/** Reads the part of an address of a run behind the `?`. */
export function readRunSearch(search: Record<string, unknown>): RunSearch {
  const { sim, step } = search;
  const at = Number(step);
  return {
    ...readFunctionSearch(search),
    ...(typeof sim === 'string' && sim.startsWith('S-') && { sim }),
    ...(step !== undefined && Number.isSafeInteger(at) && at >= 0 && { step: at }),
  };
}

/** Reads what an address says of a verification. */
export function readVerifySearch(search: Record<string, unknown>): VerifySearch {
  const { tab, severity } = search;
  return {
    ...((tab === 'contracts' || tab === 'cases') && { tab }),
    ...((severity === 'ERROR' || severity === 'WARNING') && { severity }),
    ...textOf(search, 'code'),
    ...textOf(search, 'fn'),
  };
}

const RUN_STATUSES = [
  'RUNNING',
  'WAITING',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'SUPERSEDED',
] as const satisfies readonly RunStatus[];

/** Reads what an address says of the list of runs. */
export function readRunsSearch(search: Record<string, unknown>): RunsSearch {
  const status = RUN_STATUSES.find((each) => each === search['status']);
  return { ...textOf(search, 'flow'), ...textOf(search, 'session'), ...(status && { status }) };
}

/** Reads what an address says of a run that is to be started. */
export function readStartSearch(search: Record<string, unknown>): StartSearch {
  return { ...textOf(search, 'flow'), ...textOf(search, 'session'), ...textOf(search, 'from') };
}

/** Reads what an address says of a conversation that is to be begun. */
export function readBeginSearch(search: Record<string, unknown>): BeginSearch {
  return { ...textOf(search, 'flow'), ...textOf(search, 'program') };
}

/** Reads what an address says of a run of a flow. */
export function readRunViewSearch({ density, failed }: Record<string, unknown>): RunViewSearch {
  return {
    ...((density === 'compact' || density === 'detailed') && { density }),
    ...(failed === true && { failed }),
  };
}

/** Reads what an address says of the inbox. */
export function readApprovalsSearch(search: Record<string, unknown>): ApprovalsSearch {
  const { status } = search;
  return {
    ...((status === 'ANSWERED' || status === 'EXPIRED' || status === 'CANCELLED') && { status }),
    ...textOf(search, 'id'),
  };
}
