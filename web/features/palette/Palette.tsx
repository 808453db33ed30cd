import { useNavigate } from '@tanstack/react-router';
import {
  Boxes,
  Braces,
  CircleDot,
  Command as CommandIcon,
  FunctionSquare,
  Hash,
  History,
  Package,
  ShieldCheck,
  Workflow,
  type LucideIcon,
} from 'lucide-react';
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from 'react';

import {
  PaletteProgramsDocument,
  PaletteRunDocument,
  PaletteRunsDocument,
  PaletteSearchDocument,
} from '../../generated/graphql';
import { useAsk } from '../../lib/ask';
import { useCommands } from '../../lib/commands';
import { halvesOf } from '../../lib/middle';
import { programKey } from '../../lib/program';
import {
  contractOwners,
  entriesOf,
  HEADINGS,
  isNodeRef,
  isRunId,
  revisionOf,
  runsOf,
  sections,
  type Entry,
  type Kind,
} from './model';
import { PaletteFrame, type Typing } from './PaletteFrame';
import { useContracts } from './useContracts';

const ICONS: Record<Kind, LucideIcon> = {
  command: CommandIcon,
  function: FunctionSquare,
  node: CircleDot,
  type: Braces,
  contract: ShieldCheck,
  module: Package,
  revision: History,
  run: Workflow,
  other: Hash,
  program: Boxes,
};

/** How long typing must rest before the server is asked, in milliseconds. */
const REST = 120;

/** Everything by its name: what is typed is looked for, arrows choose, Enter goes there. */
export default function Palette(props: Typing & { program: string | undefined; onClose(): void }) {
  const { program, typed, onType, onClose } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const navigate = useNavigate();
  const commands = useCommands();
  const id = useId();
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);

  useEffect(() => {
    const timer = setTimeout(() => setQuery(typed.trim()), REST);
    return () => clearTimeout(timer);
  }, [typed]);

  const wanted = query !== '';
  const revision = revisionOf(query);
  const search = {
    program: program ?? '',
    ...programKey(program ?? ''),
    query,
    ref: query,
    isNode: isNodeRef(query),
    revision: `r${revision ?? 1}`,
    isRevision: revision !== null,
  };
  const found = useAsk(PaletteSearchDocument, search, { pause: !wanted || program === undefined });
  const programs = useAsk(PaletteProgramsDocument, { search: query }, { pause: !wanted });
  // Whoever may not see runs finds everything else.
  const runs = useAsk(PaletteRunsDocument, {}, { pause: !wanted });
  const run = useAsk(PaletteRunDocument, { id: query }, { pause: !isRunId(query) });
  const contracts = useContracts(program ?? '', contractOwners(wanted ? found.data : undefined));
  const entries = useMemo(() => {
    const named = entriesOf(
      typed.trim(),
      commands,
      wanted ? found.data : undefined,
      wanted ? programs.data : undefined,
      contracts,
    );
    const runsFound = [...(isRunId(query) && run.data?.run ? [run.data.run] : []), ...(runs.data?.runs?.nodes ?? [])];
    const others = named.filter(({ target }) => target.to !== 'program' || target.program !== program);
    const ofRuns = wanted ? runsOf(typed.trim(), runsFound) : [];
    // An id means a run before it means anything else.
    return isRunId(typed.trim()) ? [...ofRuns, ...others] : [...others, ...ofRuns];
  }, [typed, query, commands, wanted, found.data, programs.data, runs.data, run.data, program, contracts]);
  const groups = sections(entries);
  const shown = groups.flatMap(([, all]) => all);
  const active = shown[Math.min(at, shown.length - 1)];
  const busy = typed.trim() !== query || (wanted && (found.fetching || programs.fetching || runs.fetching));
  // What a ref or number names may not be there; all else is.
  const problem = (found.data ? undefined : found.problem) ?? programs.problem;

  useEffect(() => {
    document.querySelector('.palette [aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [active?.id]);

  const close = () => dialog.current?.close();
  const go = ({ target }: Entry) => {
    close();
    switch (target.to) {
      case 'command':
        // The palette leaves first: a command may ask something itself.
        return setTimeout(() => commands.find((command) => command.id === target.id)?.run());
      case 'program':
        return navigate({ to: '/p/$program', params: { program: target.program } });
      case 'run':
        return navigate({ to: '/runs/$run', params: { run: target.run } });
      case 'function':
        return (
          program !== undefined &&
          navigate({
            to: '/p/$program/f/$function',
            params: { program, function: target.function },
            search: target.node === null ? {} : { node: target.node },
          })
        );
      case 'type':
        return (
          program !== undefined &&
          navigate({
            to: '/p/$program/t/$type',
            params: { program, type: target.type },
            search: target.member === null ? {} : { member: target.member },
          })
        );
      case 'revision':
        return (
          program !== undefined &&
          navigate({ to: '/p/$program/history', params: { program }, search: { sel: target.sel } })
        );
      case 'touching':
        return (
          program !== undefined &&
          navigate({ to: '/p/$program/history', params: { program }, search: { touching: target.ref } })
        );
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const last = shown.length - 1;
    const from = Math.min(at, last);
    switch (event.key) {
      case 'ArrowDown':
        setAt(from >= last ? 0 : from + 1);
        break;
      case 'ArrowUp':
        setAt(from <= 0 ? last : from - 1);
        break;
      case 'PageDown':
        setAt(Math.min(last, from + 8));
        break;
      case 'PageUp':
        setAt(Math.max(0, from - 8));
        break;
      case 'Enter':
        if (active && !event.nativeEvent.isComposing) void go(active);
        break;
      default:
        return;
    }
    event.preventDefault();
  };

  return (
    <PaletteFrame
      dialog={dialog}
      program={program}
      typed={typed}
      onType={(text) => {
        onType(text);
        setAt(0);
      }}
      list={`${id}list`}
      active={active && optionId(id, active)}
      onKeyDown={onKeyDown}
      onClose={onClose}
    >
      <div id={`${id}list`} role="listbox" aria-label="What is found" className="palette-list" tabIndex={-1}>
        {groups.map(([kind, all]) => (
          <div key={kind} role="group" aria-labelledby={`${id}${kind}`}>
            <div id={`${id}${kind}`} role="presentation" className="palette-heading muted">
              {HEADINGS[kind]}
            </div>
            {all.map((entry) => (
              <Option
                key={entry.id}
                id={optionId(id, entry)}
                entry={entry}
                icon={
                  entry.target.to === 'command'
                    ? (commands.find((command) => `command ${command.id}` === entry.id)?.icon ?? CommandIcon)
                    : ICONS[kind]
                }
                active={entry === active}
                onHover={() => setAt(shown.indexOf(entry))}
                onGo={() => void go(entry)}
              />
            ))}
          </div>
        ))}
      </div>
      <output className="palette-status muted">
        {problem
          ? `The search failed. ${problem.action}`
          : busy
            ? 'Looking…'
            : shown.length === 0
              ? 'Nothing is called like this.'
              : `${shown.length} found`}
      </output>
    </PaletteFrame>
  );
}

/** An id of the page has no blanks. */
function optionId(list: string, { id }: Entry): string {
  return `${list}${id.replaceAll(/\W/g, '-')}`;
}

function Option(props: { id: string; entry: Entry; icon: LucideIcon; active: boolean; onHover(): void; onGo(): void }) {
  const { id, entry, icon: Icon, active, onHover, onGo } = props;
  const isProse = ['command', 'program', 'run'].includes(entry.kind);
  const halves = isProse ? null : halvesOf(entry.label);
  return (
    // The keyboard stays in the field above, which says which option is active.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={active}
      aria-label={halves ? `${entry.label} ${entry.detail}` : undefined}
      className="palette-option"
      onClick={onGo}
      onMouseMove={active ? undefined : onHover}
    >
      <Icon size={14} aria-hidden className="muted" />
      <span className={`label${isProse ? '' : ' mono'}${halves ? ' halves' : ''}`}>
        {halves ? halves.map((half) => <span key={half}>{half}</span>) : entry.label}
      </span>
      <span className="detail muted">{entry.detail}</span>
    </div>
  );
}
