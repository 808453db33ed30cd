// Which view an address shows. Addresses stand behind the `#`, so that one file of the server serves them all.
import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router';

import { EditsView } from '../features/edits';
import { OverviewView, ProgramFrame } from '../features/program';
import { ProgramsView } from '../features/programs';
import { Crash } from './Crash';
import { Missing } from './Missing';
import {
  readApprovalsSearch,
  readBeginSearch,
  readFunctionSearch,
  readHistorySearch,
  readRunSearch,
  readRunsSearch,
  readRunViewSearch,
  readStartSearch,
  readTypeSearch,
  readVerifySearch,
} from './search';
import { Shell } from './Shell';

const root = createRootRoute({ component: Shell, errorComponent: Crash, notFoundComponent: Missing });

const programs = createRoute({ getParentRoute: () => root, path: '/', component: ProgramsView });

const program = createRoute({ getParentRoute: () => root, path: '/p/$program', component: ProgramFrame });

const overview = createRoute({
  getParentRoute: () => program,
  path: '/',
  component: OverviewView,
});

const edits = createRoute({
  getParentRoute: () => program,
  path: 'edits',
  component: EditsView,
});

const view = createRoute({
  getParentRoute: () => program,
  path: 'f/$function',
  validateSearch: readFunctionSearch,
  component: lazyRouteComponent(() => import('../features/function'), 'FunctionView'),
});

const type = createRoute({
  getParentRoute: () => program,
  path: 't/$type',
  validateSearch: readTypeSearch,
  component: lazyRouteComponent(() => import('../features/type'), 'TypeView'),
});

const history = createRoute({
  getParentRoute: () => program,
  path: 'history',
  validateSearch: readHistorySearch,
  component: lazyRouteComponent(() => import('../features/history'), 'HistoryView'),
});

const run = createRoute({
  getParentRoute: () => program,
  path: 'f/$function/run',
  validateSearch: readRunSearch,
  component: lazyRouteComponent(() => import('../features/simulation'), 'RunView'),
});

const verify = createRoute({
  getParentRoute: () => program,
  path: 'verify',
  validateSearch: readVerifySearch,
  component: lazyRouteComponent(() => import('../features/verification'), 'VerificationView'),
});

const edit = createRoute({
  getParentRoute: () => program,
  path: 'f/$function/edit',
  validateSearch: readFunctionSearch,
  component: lazyRouteComponent(() => import('../features/editing'), 'EditView'),
});

const add = createRoute({
  getParentRoute: () => program,
  path: 'add',
  component: lazyRouteComponent(() => import('../features/editing'), 'AddView'),
});

const map = createRoute({
  getParentRoute: () => program,
  path: 'map',
  component: lazyRouteComponent(() => import('../features/map'), 'MapView'),
});

const runs = createRoute({
  getParentRoute: () => root,
  path: '/runs',
  validateSearch: readRunsSearch,
  component: lazyRouteComponent(() => import('../features/runs'), 'RunsView'),
});

const start = createRoute({
  getParentRoute: () => root,
  path: '/runs/new',
  validateSearch: readStartSearch,
  component: lazyRouteComponent(() => import('../features/runs'), 'StartView'),
});

const flowRun = createRoute({
  getParentRoute: () => root,
  path: '/runs/$run',
  validateSearch: readRunViewSearch,
  component: lazyRouteComponent(() => import('../features/runs'), 'RunView'),
});

const sessions = createRoute({
  getParentRoute: () => root,
  path: '/sessions',
  component: lazyRouteComponent(() => import('../features/sessions'), 'SessionsView'),
});

const begin = createRoute({
  getParentRoute: () => root,
  path: '/sessions/new',
  validateSearch: readBeginSearch,
  component: lazyRouteComponent(() => import('../features/sessions'), 'BeginView'),
});

const session = createRoute({
  getParentRoute: () => root,
  path: '/sessions/$session',
  component: lazyRouteComponent(() => import('../features/sessions'), 'SessionView'),
});

const approvals = createRoute({
  getParentRoute: () => root,
  path: '/approvals',
  validateSearch: readApprovalsSearch,
  component: lazyRouteComponent(() => import('../features/approvals'), 'ApprovalsView'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    programs,
    runs,
    start,
    flowRun,
    sessions,
    begin,
    session,
    approvals,
    program.addChildren([overview, edits, add, map, history, verify, view, run, edit, type]),
  ]),
  history: createHashHistory(),
  defaultErrorComponent: Crash,
  defaultNotFoundComponent: Missing,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
