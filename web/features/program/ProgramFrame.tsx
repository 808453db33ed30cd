import { Link, Outlet, useNavigate, useParams } from '@tanstack/react-router';
import { PencilLine } from 'lucide-react';

import { useOffer } from '../../lib/commands';
import { useTitle } from '../../lib/title';
import { ProblemPanel, SkeletonRows } from '../../ui';
import { LiveBanner, LiveControls, LiveProvider, type Opening } from '../edits';
import { SECTIONS } from './sections';
import './program.css';

/** What stands around every view of a program: its views, and how live they are. */
export function ProgramFrame() {
  const { program = '' } = useParams({ strict: false });
  const navigate = useNavigate();
  useOffer([
    ...SECTIONS.map(({ to, label, icon }) => ({
      id: to,
      label: `Go to ${label}`,
      icon,
      run: () => void navigate({ to, params: { program } }),
    })),
    {
      id: 'add',
      label: 'Add functions and types…',
      icon: PencilLine,
      run: () => void navigate({ to: '/p/$program/add', params: { program } }),
    },
  ]);
  return (
    <LiveProvider
      key={program}
      program={program}
      otherwise={(opening) => <NotOpen program={program} opening={opening} />}
    >
      <div className="program-frame">
        <div className="program-bar">
          <nav aria-label="Views of the program" className="tabs">
            {SECTIONS.map(({ to, label, icon: Icon, exact }) => (
              <Link key={to} to={to} params={{ program }} activeOptions={{ exact }} className="tab" title={label}>
                <Icon size={14} aria-hidden />
                <span className="tab-label">{label}</span>
              </Link>
            ))}
          </nav>
          <LiveControls />
        </div>
        <LiveBanner />
        <div className="program-view">
          <Outlet />
        </div>
      </div>
    </LiveProvider>
  );
}

function NotOpen({ program, opening }: { program: string; opening: Opening }) {
  useTitle(program);
  if (opening.state === 'failed')
    return (
      <div className="page narrow">
        <h1>{program}</h1>
        <ProblemPanel problem={opening.problem} onRetry={opening.retry} />
        <Link to="/">All programs</Link>
      </div>
    );
  return (
    <div className="program-frame">
      <div className="program-bar" />
      <SkeletonRows rows={8} label="Opening the program" />
    </div>
  );
}
