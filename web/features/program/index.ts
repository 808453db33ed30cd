// One program: the frame of all its views, and what there is in it.
export { OverviewView } from './OverviewView';
export { ProgramFrame } from './ProgramFrame';
