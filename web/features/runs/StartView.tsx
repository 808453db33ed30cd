import { Link, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';

import { setTitle } from '../../lib/title';
import { StartForm } from './StartForm';
import './runs.css';

/** The page on which a run is started. */
export function StartView() {
  const search = useSearch({ from: '/runs/new' });
  useEffect(() => setTitle('Start a run'), []);
  return (
    <div className="page start-page">
      <div className="page-head">
        <h1>Start a run</h1>
        <Link to="/runs" className="end">
          All runs
        </Link>
      </div>
      <div className="panel panel-body">
        {/* What an address asks for is another form. */}
        <StartForm key={JSON.stringify(search)} search={search} />
      </div>
    </div>
  );
}
