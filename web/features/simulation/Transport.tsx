import {
  ArrowDownToLine,
  ArrowUpFromLine,
  ChevronFirst,
  FastForward,
  Keyboard,
  Pause,
  Play,
  Rewind,
  Square,
  StepBack,
  Redo2,
  type LucideIcon,
} from 'lucide-react';
import { useState, type FormEvent, type RefObject } from 'react';

import type { Command } from './keys';
import { SPEEDS, stepSlip, stepTyped, type Extent, type Possible } from './model';

/** The controls: one button for each way to move, the slider over the steps, the speed. */
export function Transport(props: {
  can: Possible;
  /** Why the reader may not move it; null where they may. */
  lacks: string | null;
  playing: boolean;
  busy: boolean;
  position: number;
  extent: Extent;
  speed: number;
  field: RefObject<HTMLInputElement | null>;
  onSpeed(speed: number): void;
  onCommand(command: Command): void;
  onSeek(step: number): void;
  onCancel(): void;
}) {
  const { can, lacks, playing, busy, position, extent, speed, field, onSpeed, onCommand, onSeek, onCancel } = props;
  const button = (command: Command, label: string, key: string, Icon: LucideIcon, enabled: boolean) => (
    <button
      type="button"
      className="button icon"
      aria-label={label}
      title={enabled || lacks === null ? `${label} (${key})` : lacks}
      aria-keyshortcuts={key}
      aria-disabled={!enabled}
      onClick={() => enabled && onCommand(command)}
    >
      <Icon size={15} aria-hidden />
    </button>
  );
  const halts = playing || can.pause;
  return (
    <div className="transport" role="group" aria-label="Run">
      <div className="transport-buttons">
        {button('start', 'To the start', '0', ChevronFirst, can.back)}
        {button('runBack', 'Run back', 'R', Rewind, can.back)}
        {button('back', 'Step back', 'b', StepBack, can.back)}
        {button('play', halts ? 'Pause' : 'Play', 'p', halts ? Pause : Play, halts || can.forward)}
        {button('step', 'Step in', 's', ArrowDownToLine, can.forward)}
        {button('over', 'Step over', 'o', Redo2, can.forward)}
        {button('out', 'Step out', 'u', ArrowUpFromLine, can.forward)}
        {button('run', 'Run', 'r', FastForward, can.forward)}
      </div>
      <Scrubber position={position} extent={extent} enabled={can.back || can.forward} busy={busy} onSeek={onSeek} />
      <GoTo
        key={position}
        position={position}
        extent={extent}
        field={field}
        disabled={lacks !== null}
        onSeek={onSeek}
      />
      <div className="transport-buttons">
        <label className="transport-speed">
          <span className="hidden">Speed of play</span>
          <select className="field" value={speed} onChange={(event) => onSpeed(Number(event.target.value))}>
            {SPEEDS.map((each) => (
              <option key={each} value={each}>
                {each.toLocaleString('en')}/s
              </option>
            ))}
          </select>
        </label>
        {button('keys', 'Keys', '?', Keyboard, true)}
        <button
          type="button"
          className="button icon"
          aria-label="Cancel the simulation"
          title={lacks ?? 'Cancel: it cannot be moved any more'}
          aria-disabled={!can.cancel}
          onClick={() => can.cancel && onCancel()}
        >
          <Square size={13} aria-hidden />
        </button>
      </div>
      {lacks !== null && <p className="muted transport-lacks">{lacks}</p>}
    </div>
  );
}

/** The slider over the steps. It moves at once, and asks the server only for the newest of the places it passes. */
function Scrubber(props: {
  position: number;
  extent: Extent;
  enabled: boolean;
  busy: boolean;
  onSeek(step: number): void;
}) {
  const { position, extent, enabled, busy, onSeek } = props;
  const [held, setHeld] = useState<number | null>(null);
  const [moving, setMoving] = useState(busy);
  if (moving !== busy) {
    setMoving(busy);
    // What is shown follows the run again as soon as that has arrived.
    if (!busy) setHeld(null);
  }
  const shown = held ?? position;
  const most = Math.max(extent.steps, position, 1);
  return (
    <div className="scrubber">
      <input
        type="range"
        aria-label="Step"
        min={0}
        max={most}
        value={shown}
        disabled={!enabled}
        aria-valuetext={`step ${shown.toLocaleString('en')} of ${extent.final ? '' : 'at least '}${extent.steps.toLocaleString('en')}`}
        style={{ '--part': `${(100 * shown) / most}%` } as React.CSSProperties}
        onChange={(event) => {
          const step = Number(event.target.value);
          setHeld(step);
          onSeek(step);
        }}
      />
    </div>
  );
}

/** The number of the step, to be typed. */
function GoTo(props: {
  position: number;
  extent: Extent;
  field: RefObject<HTMLInputElement | null>;
  disabled: boolean;
  onSeek(step: number): void;
}) {
  const { position, extent, field, disabled, onSeek } = props;
  const [typed, setTyped] = useState<string | null>(null);
  const slip = typed === null ? null : stepSlip(typed, extent);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const step = typed === null ? null : stepTyped(typed);
    if (slip === null && step !== null) onSeek(step);
  };
  return (
    <form className="goto numeric" onSubmit={submit}>
      <label htmlFor="goto" className="muted">
        step
      </label>
      <input
        ref={field}
        id="goto"
        className="field numeric"
        inputMode="numeric"
        autoComplete="off"
        disabled={disabled}
        aria-invalid={slip !== null}
        aria-describedby={slip === null ? undefined : 'goto-slip'}
        title="Go to a step (g), then Enter"
        value={typed ?? position.toLocaleString('en')}
        size={Math.max(6, extent.steps.toLocaleString('en').length)}
        onFocus={(event) => event.target.select()}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          setTyped(null);
          event.currentTarget.closest<HTMLElement>('.player')?.focus();
        }}
      />
      <span className="muted" title={extent.final ? 'the run ends there' : 'the end was not seen yet'}>
        of {extent.steps.toLocaleString('en')}
        {!extent.final && ' or more'}
      </span>
      {slip !== null && (
        <p id="goto-slip" className="goto-slip" role="alert">
          {slip}
        </p>
      )}
    </form>
  );
}
