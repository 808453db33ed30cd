import './map.css';

import { useNavigate } from '@tanstack/react-router';
import { FoldVertical, Search, UnfoldVertical } from 'lucide-react';
import { useDeferredValue, useEffect, useMemo, useState } from 'react';

import { useLight } from '../../lib/useLight';
import { setTitle } from '../../lib/title';
import { counted, Notice, ProblemPanel, SkeletonRows, Tabs, useMedia } from '../../ui';
import { useLive } from '../edits';
import { NoFunctions } from '../program';
import { MapCanvas } from './MapCanvas';
import { MapTable } from './MapTable';
import { found, litBy, openAtFirst, rowsOf, type ProgramMap, type State } from './model';
import { pictureOf, placesOf, SCREEN, standingFor, TELEPHONE } from './picture';
import { StateMark, STATES } from './StateMark';
import { useMap, type MapLoading } from './useMap';

/** Where the picture has no place beside the table; the style sheet has the same. */
const NARROW = '(max-width: 860px)';

/** Where the picture is higher than wide: a telephone. */
const HIGH = '(max-width: 640px)';

/** Whether the browser can draw the picture. */
function canDraw(): boolean {
  const canvas = document.createElement('canvas');
  return canvas.getContext('webgl2') !== null || canvas.getContext('webgl') !== null;
}

/** A whole program: its modules and functions, who calls whom, and where something is missing. */
export function MapView() {
  const { programId, name, feed } = useLive();
  const { map, progress, problem, light, asked, retry } = useMap(programId, feed.head ?? undefined);

  useEffect(() => {
    setTitle(`Map of ${name}`);
  }, [name]);

  if (problem && !map)
    return (
      <div className="page narrow">
        <h1>Map of {name}</h1>
        <ProblemPanel problem={problem} onRetry={retry} />
      </div>
    );
  if (!map)
    return (
      <div className="map" data-busy>
        <h1 className="hidden">Map of {name}</h1>
        <div className="map-waiting">
          <output className="muted">
            {progress
              ? `Loading functions: ${progress.done.toLocaleString('en')} of ${progress.total.toLocaleString('en')}`
              : 'Loading the map…'}
          </output>
          <SkeletonRows rows={8} label="Loading the map" />
        </div>
      </div>
    );
  if (map.functions.size === 0)
    return (
      <div className="page narrow">
        <h1>Map of {name}</h1>
        <NoFunctions program={name} />
      </div>
    );
  return <Loaded map={map} light={light} asked={asked} />;
}

type Pane = 'map' | 'table';

function Loaded({ map, light, asked }: Pick<MapLoading, 'light' | 'asked'> & { map: ProgramMap }) {
  const { name, feed } = useLive();
  const navigate = useNavigate();
  const narrow = useMedia(NARROW);
  const [pane, setPane] = useState<Pane>('map');
  const [chosen, setChosen] = useState<ReadonlySet<string> | null>(null);
  const [typed, setTyped] = useState('');
  const [pointed, setPointed] = useState<string | null>(null);
  const [drawable, setDrawable] = useState(canDraw);
  const sought = useDeferredValue(typed);

  const first = useMemo(() => openAtFirst(map), [map]);
  const open = chosen ?? first;
  const tall = useMedia(HIGH);
  const places = useMemo(() => placesOf(map, tall ? TELEPHONE : SCREEN), [map, tall]);
  const picture = useMemo(() => pictureOf(map, places, open), [map, places, open]);
  const matches = useMemo(() => found(map, sought), [map, sought]);
  const lit = useMemo(() => (matches ? litBy(map, matches) : null), [map, matches]);
  const touched = useLight(light, true).lit;
  const lights = useMemo(() => standingFor(map, open, touched), [map, open, touched]);
  /** Enter in the search goes from one that is found to the next. */
  const [turn, setTurn] = useState<number | null>(null);
  const hits = useMemo(() => (matches ? standingFor(map, open, matches) : []), [map, open, matches]);
  const goal = useMemo(() => (turn === null ? hits : hits.slice(turn, turn + 1)), [hits, turn]);
  const rows = useMemo(() => rowsOf(map, open, matches), [map, open, matches]);

  const toggle = (module: string) => {
    const next = new Set(open);
    if (!next.delete(module)) next.add(module);
    setChosen(next);
  };
  const openMark = (id: string) => {
    if (map.functions.has(id))
      void navigate({ to: '/p/$program/f/$function', params: { program: name, function: id } });
    else toggle(id);
  };

  const all = open.size === map.modules.length;
  const what = `${counted(map.functions.size, 'function')}, ${counted(map.modules.length, 'module')}, ${counted(map.calls.length, 'call')}`;
  const canvas = (
    <div className="map-picture" {...(narrow && { role: 'tabpanel', id: 'map-pane', 'aria-labelledby': 'tab-map' })}>
      <MapCanvas
        label={`Map of ${name}: ${what}. The table has the same.`}
        picture={picture}
        lit={lit}
        pointed={pointed}
        lights={lights}
        sought={goal}
        onPoint={setPointed}
        onOpen={openMark}
        onFailed={() => setDrawable(false)}
      />
      <Legend />
    </div>
  );
  const table = (
    <div
      className="map-side"
      {...(narrow && drawable && { role: 'tabpanel', id: 'map-pane', 'aria-labelledby': 'tab-table' })}
    >
      {!drawable && (
        <Notice tone="info" title="This browser draws no map.">
          <p className="muted">WebGL is missing or switched off. The table has the same.</p>
        </Notice>
      )}
      <MapTable
        key={sought}
        program={name}
        map={map}
        rows={rows}
        searching={matches !== null}
        touched={touched}
        onToggle={toggle}
        onPoint={setPointed}
      />
    </div>
  );
  return (
    <div className="map">
      <div className="map-head">
        <h1>Map</h1>
        <p className="muted numeric">{what}</p>
        <div className="end">
          {map.modules.length > 1 && (
            <button
              type="button"
              className="button"
              onClick={() => setChosen(new Set(all ? [] : map.modules.map(({ ref }) => ref)))}
            >
              {all ? <FoldVertical size={14} aria-hidden /> : <UnfoldVertical size={14} aria-hidden />}
              {all ? 'Close all modules' : 'Open all modules'}
            </button>
          )}
          <label className="search small">
            <Search size={14} aria-hidden />
            <span className="hidden">Search functions by path</span>
            <input
              className="field"
              type="search"
              placeholder="Search by path"
              value={typed}
              onChange={(event) => {
                setTyped(event.target.value);
                setTurn(null);
                setPointed(null);
              }}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' || !matches) return;
                const next = turn === null ? 0 : turn + (event.shiftKey ? -1 : 1) + hits.length;
                const at = hits.length === 0 ? null : next % hits.length;
                setTurn(at);
                setPointed(at === null ? null : (hits[at] ?? null));
              }}
            />
          </label>
          {matches && (
            <output className="muted numeric found">
              {turn === null ? counted(matches.size, 'function') : `${turn + 1} of ${hits.length}`} found
            </output>
          )}
          <output className="hidden" data-asked={asked}>
            {touched.size > 0 && `r${feed.head} changed ${counted(touched.size, 'function')}`}
          </output>
        </div>
      </div>
      {narrow && drawable && (
        <Tabs<Pane>
          label="Map and table"
          panel="map-pane"
          tabs={[
            { id: 'map', label: 'Map' },
            { id: 'table', label: 'Table' },
          ]}
          current={pane}
          onChange={setPane}
        />
      )}
      <div className={drawable ? 'map-panes' : 'map-panes alone'}>
        {drawable && (!narrow || pane === 'map') && canvas}
        {(!drawable || !narrow || pane === 'table') && table}
      </div>
    </div>
  );
}

function Legend() {
  const states: State[] = ['fine', 'findings', 'incomplete', 'imported'];
  return (
    <ul className="map-legend" aria-label="What the shapes mean">
      {states.map((state) => (
        <li key={state}>
          <StateMark state={state} />
          {STATES[state]}
        </li>
      ))}
    </ul>
  );
}
