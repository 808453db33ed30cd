import { Link, Outlet, useNavigate, useParams } from '@tanstack/react-router';
import {
  Boxes,
  ChevronRight,
  Inbox,
  MessageSquarePlus,
  MessagesSquare,
  Moon,
  Play,
  Sun,
  Terminal,
  Workflow,
} from 'lucide-react';

import { PaletteButton } from '../features/palette';
import { useQuestions } from '../features/questions';
import { useOffer } from '../lib/commands';
import { Identity } from './Identity';
import { useTheme } from '../lib/theme';

/** What stands around every view: where the reader is, and what concerns no view. */
export function Shell() {
  const { program } = useParams({ strict: false });
  const { theme, toggle } = useTheme();
  const other = theme === 'dark' ? 'light' : 'dark';
  const navigate = useNavigate();
  const { open } = useQuestions();
  useOffer([
    { id: 'theme', label: `Use ${other} colours`, icon: theme === 'dark' ? Sun : Moon, run: toggle },
    { id: 'programs', label: 'Go to all programs', icon: Boxes, run: () => void navigate({ to: '/' }) },
    { id: 'approvals', label: 'Go to approvals', icon: Inbox, run: () => void navigate({ to: '/approvals' }) },
    { id: 'runs', label: 'Go to runs of flows', icon: Workflow, run: () => void navigate({ to: '/runs' }) },
    { id: 'start', label: 'Start a run of a flow…', icon: Play, run: () => void navigate({ to: '/runs/new' }) },
    {
      id: 'sessions',
      label: 'Go to conversations',
      icon: MessagesSquare,
      run: () => void navigate({ to: '/sessions' }),
    },
    {
      id: 'begin',
      label: 'Begin a conversation…',
      icon: MessageSquarePlus,
      run: () => void navigate({ to: '/sessions/new' }),
    },
    { id: 'graphiql', label: 'Go to GraphiQL', icon: Terminal, run: () => window.location.assign('/graphiql') },
  ]);
  return (
    <>
      <a className="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <header className="bar">
        <nav aria-label="Place" className="crumbs">
          <Link to="/" className="home" activeOptions={{ exact: true }}>
            <Mark />
            <span>lmlang</span>
          </Link>
          {program && (
            <>
              <ChevronRight size={14} aria-hidden className="muted" />
              <Link to="/p/$program" params={{ program }} className="crumb" activeOptions={{ exact: true }}>
                {program}
              </Link>
            </>
          )}
        </nav>
        <nav aria-label="Sections" className="sections">
          <Link to="/sessions" className="button plain" title="Conversations with flows">
            <MessagesSquare size={15} aria-hidden />
            <span className="label">Conversations</span>
          </Link>
          <Link to="/runs" className="button plain" title="Runs of flows">
            <Workflow size={15} aria-hidden />
            <span className="label">Runs</span>
          </Link>
          <Link to="/approvals" className="button plain" title="Questions that runs ask of people">
            <Inbox size={15} aria-hidden />
            <span className="label">Approvals</span>
            {open !== null && open > 0 && (
              <span className="count numeric">
                {open}
                <span className="hidden"> open</span>
              </span>
            )}
          </Link>
        </nav>
        <div className="tools">
          <PaletteButton program={program} />
          <a className="button plain" href="/graphiql" title="GraphiQL: the API by hand">
            <Terminal size={15} aria-hidden />
            <span className="wide">GraphiQL</span>
            <span className="hidden narrow-only">GraphiQL</span>
          </a>
          <button type="button" className="button plain icon" onClick={toggle} aria-label={`Use ${other} colours`}>
            {theme === 'dark' ? <Sun size={15} aria-hidden /> : <Moon size={15} aria-hidden />}
          </button>
          <Identity />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
    </>
  );
}

/** The address behind the `#` is the view's, so the link moves the focus itself. */
function skip(event: { preventDefault(): void }): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function Mark() {
  return (
    <svg width="18" height="18" viewBox="0 0 16 16" aria-hidden>
      <rect width="16" height="16" rx="4" fill="var(--accent)" />
      <circle cx="5" cy="5" r="2" fill="var(--accent-text)" />
      <circle cx="11" cy="11" r="2" fill="var(--accent-text)" />
      <path d="M5 7v2a2 2 0 0 0 2 2h2" stroke="var(--accent-text)" strokeWidth="1.4" fill="none" />
    </svg>
  );
}
