// One program: the frame of all its views, and what there is in it.
export { NoFunctions } from './NoFunctions';
export { OverviewView } from './OverviewView';
export { ProgramFrame } from './ProgramFrame';
