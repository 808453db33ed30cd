// What a change would come to, before it is done: differences, conflicts, findings, and the dialog that asks.
export { DiffView, MoreChanges, useDiffPlace, type DiffPlace } from './DiffView';
export {
  findingKey,
  MOVED_ON,
  without,
  type AskPart,
  type Conflict,
  type Diff,
  type Difference,
  type Finding,
  type FunctionChange,
  type Named,
  type Part,
  type Preview,
} from './model';
export { PreviewDialog, type Asking, type Change } from './PreviewDialog';
export { foreseenBy, proposed, type Proposed } from './propose';
export type { Written } from './settling';
export { fileOf, filesOf, type DiffFile } from './unified';
export { UnifiedText } from './UnifiedText';
export type { Changes } from './useChanges';
