import { Link, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';

import { setTitle } from '../../lib/title';
import { BeginForm } from './BeginForm';
import './sessions.css';

/** The page on which a conversation is begun. */
export function BeginView() {
  const { flow, program } = useSearch({ from: '/sessions/new' });
  useEffect(() => setTitle('New conversation'), []);
  return (
    <div className="page talk-begin">
      <div className="page-head">
        <h1>New conversation</h1>
        <Link to="/sessions" className="end">
          All conversations
        </Link>
      </div>
      <div className="panel panel-body">
        <BeginForm key={`${flow} ${program}`} flow={flow} program={program} />
      </div>
    </div>
  );
}
