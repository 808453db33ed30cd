import { Link } from '@tanstack/react-router';
import { ChevronDown, ChevronRight, Search } from 'lucide-react';
import { Fragment, useState } from 'react';

import { flawedWords } from '../../lib/flaws';
import { counted, Empty } from '../../ui';
import type { MapFunction, MapModule, ProgramMap, Row } from './model';
import { StateMark, STATES } from './StateMark';

/** How many rows are shown at first, and with every press for more. */
const PAGE = 200;
/** How many callers or callees a row names. */
const NAMED = 40;

/** The program as a table: what the picture shows, for who reads or listens. */
export function MapTable(props: {
  program: string;
  map: ProgramMap;
  rows: readonly Row[];
  searching: boolean;
  /** The functions that were just changed. */
  touched: ReadonlySet<string>;
  onToggle(module: string): void;
  onPoint(id: string | null): void;
}) {
  const { program, map, rows, searching, touched, onToggle, onPoint } = props;
  const [limit, setLimit] = useState(PAGE);
  const [told, setTold] = useState<string | null>(null);
  if (rows.length === 0)
    return (
      <Empty icon={Search} title="No function is like this">
        <p>Look for another part of a path.</p>
      </Empty>
    );
  return (
    <>
      <table className="map-table">
        <caption className="hidden">Functions by module: their nodes, callers, callees and diagnostics</caption>
        <thead>
          <tr>
            <th scope="col">Function</th>
            <th scope="col" className="numeric">
              Nodes
            </th>
            <th scope="col" className="numeric">
              Callers
            </th>
            <th scope="col" className="numeric">
              Callees
            </th>
            <th scope="col" className="numeric">
              <abbr title="Diagnostics">Diag.</abbr>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows
            .slice(0, limit)
            .map((row) =>
              row.kind === 'module' ? (
                <ModuleRow
                  key={row.module.ref}
                  module={row.module}
                  open={row.open}
                  fixed={searching}
                  onToggle={onToggle}
                />
              ) : (
                <FunctionRow
                  key={row.listed.ref}
                  program={program}
                  map={map}
                  listed={row.listed}
                  told={told === row.listed.ref}
                  lit={touched.has(row.listed.ref)}
                  onTell={setTold}
                  onPoint={onPoint}
                />
              ),
            )}
        </tbody>
      </table>
      {rows.length > limit && (
        <div className="more">
          <button type="button" className="button" onClick={() => setLimit(limit + PAGE)}>
            Show more: {limit.toLocaleString('en')} of {counted(rows.length, 'row')}
          </button>
        </div>
      )}
    </>
  );
}

function ModuleRow(props: { module: MapModule; open: boolean; fixed: boolean; onToggle(module: string): void }) {
  const { module, open, fixed, onToggle } = props;
  const Icon = open ? ChevronDown : ChevronRight;
  const flaws = flawedWords(module.flaws);
  return (
    <tr className="map-module">
      <th scope="rowgroup" colSpan={5}>
        <button type="button" aria-expanded={open} disabled={fixed} onClick={() => onToggle(module.ref)}>
          <Icon size={14} aria-hidden />
          <span className="mono path" title={module.path}>
            {module.path}
          </span>
          <span className="muted">{counted(module.functions.length, 'function')}</span>
          {flaws !== null && (
            <span className={`badge ${module.flaws.incomplete > 0 ? 'warn' : 'plain'}`}>
              <StateMark state={module.state} />
              {flaws}
            </span>
          )}
        </button>
      </th>
    </tr>
  );
}

function FunctionRow(props: {
  program: string;
  map: ProgramMap;
  listed: MapFunction;
  told: boolean;
  lit: boolean;
  onTell(ref: string | null): void;
  onPoint(id: string | null): void;
}) {
  const { program, map, listed, told, lit, onTell, onPoint } = props;
  const { ref, name, path, size, state, findings, callers, callees } = listed;
  const linked = callers.length + callees.length > 0;
  const Icon = told ? ChevronDown : ChevronRight;
  return (
    <Fragment>
      <tr
        className={lit ? 'lit' : undefined}
        onMouseEnter={() => onPoint(ref)}
        onMouseLeave={() => onPoint(null)}
        onFocus={() => onPoint(ref)}
        onBlur={() => onPoint(null)}
      >
        <th scope="row">
          <span className="map-name">
            <button
              type="button"
              className="button plain tell"
              aria-expanded={told}
              aria-label={`Calls of ${path}`}
              disabled={!linked}
              onClick={() => onTell(told ? null : ref)}
            >
              {linked && <Icon size={13} aria-hidden />}
            </button>
            <StateMark state={state} />
            <Link to="/p/$program/f/$function" params={{ program, function: ref }} className="mono" title={path}>
              {name}
            </Link>
            {state !== 'fine' && <span className="hidden">{STATES[state]}</span>}
          </span>
        </th>
        <td className="numeric">{size.toLocaleString('en')}</td>
        <td className="numeric">{callers.length.toLocaleString('en')}</td>
        <td className="numeric">{callees.length.toLocaleString('en')}</td>
        <td className="numeric">{findings.toLocaleString('en')}</td>
      </tr>
      {told && (
        <tr className="map-calls">
          <td colSpan={5}>
            <Named program={program} map={map} title="Called by" refs={callers} />
            <Named program={program} map={map} title="Calls" refs={callees} />
          </td>
        </tr>
      )}
    </Fragment>
  );
}

function Named({
  program,
  map,
  title,
  refs,
}: {
  program: string;
  map: ProgramMap;
  title: string;
  refs: readonly string[];
}) {
  if (refs.length === 0) return null;
  const shown = refs.slice(0, NAMED).flatMap((ref) => map.functions.get(ref) ?? []);
  return (
    <p>
      <span className="muted">{title} </span>
      {shown.map(({ ref, path }, index) => (
        <Fragment key={ref}>
          {index > 0 && ', '}
          <Link to="/p/$program/f/$function" params={{ program, function: ref }} className="mono">
            {path}
          </Link>
        </Fragment>
      ))}
      {refs.length > NAMED && ` and ${(refs.length - NAMED).toLocaleString('en')} more`}
    </p>
  );
}
