import { Activity } from 'lucide-react';
import { useEffect } from 'react';

import { setTitle } from '../../lib/title';
import { counted, Empty, SkeletonRows } from '../../ui';
import { FeedRow } from './FeedRow';
import { useLive } from './live';
import './edits.css';

/** The revisions of a program as they are made, the newest first. */
export function EditsView() {
  const { name, feed, loadOlder, resume } = useLive();
  const { items, whole, waiting, paused } = feed;
  useEffect(() => {
    setTitle(`Edits · ${name}`);
  }, [name]);
  return (
    <div className="page">
      <div className="page-head">
        <h1>Edits</h1>
        <span className="muted">Every revision, by whom, and whether the program was right after it.</span>
      </div>
      <div className="panel">
        {paused && waiting.length > 0 && (
          <button type="button" className="feed-waiting" onClick={resume}>
            Show {counted(waiting.length, 'revision')} that came since the pause
          </button>
        )}
        {!whole ? (
          // Rows that came later would stand between those that are read.
          <SkeletonRows rows={6} height={74} label="Loading the revisions" />
        ) : items.length === 0 ? (
          <Empty icon={Activity} title="Nothing has happened yet">
            <p>Edits of agents and people appear here as they are made.</p>
          </Empty>
        ) : (
          <ol className="feed" aria-label="Revisions, the newest first">
            {items.map((item) => (
              <FeedRow key={item.number} item={item} />
            ))}
          </ol>
        )}
        {whole && loadOlder && (
          <div className="more">
            <button type="button" className="button" onClick={loadOlder}>
              Show older revisions
            </button>
          </div>
        )}
      </div>
    </div>
  );
}
