import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';

import { RunCallDocument, RunStoredDocument, type BreakpointInput, type StepFragment } from '../../generated/graphql';
import { useCaller } from '../../lib/caller';
import { OFFLINE } from '../../lib/problems';
import { setTitle } from '../../lib/title';
import { useBack } from '../../lib/useBack';
import { Message, Notice, ProblemPanel, SkeletonRows, Tabs, useMedia, type Tab } from '../../ui';
import { useLive } from '../edits';
import { Breakpoints } from './Breakpoints';
import { Globals } from './Globals';
import { KeyList } from './KeyList';
import { commandOf, type Command } from './keys';
import {
  inputOf,
  isEnded,
  isOver,
  marksOf,
  NOTHING,
  possible,
  SPEEDS,
  spokenState,
  toggled,
  type State,
} from './model';
import { plainLine, useNames } from './names';
import { Memory } from './Memory';
import { Outcome } from './Outcome';
import { Output } from './Output';
import { PlayerHeader } from './PlayerHeader';
import { Rounds } from './Rounds';
import { Scene } from './Scene';
import { SelectedNode } from './SelectedNode';
import { Stack } from './Stack';
import { Steps, type Filter } from './Steps';
import { Transport } from './Transport';
import { useLength } from './useLength';
import { useLook } from './useLook';
import { usePlay } from './usePlay';
import type { Simulated } from './useSimulation';
import { useStage } from './useStage';
import { useWhy } from './useWhy';
import { Values } from './Values';
import { WhyPanel } from './WhyPanel';
import './player.css';

type Pane = 'graph' | 'text' | 'state' | 'steps' | 'stops' | 'why';

/** Below this width there is room for one panel at a time; the style sheet has the same. */
const NARROW = '(max-width: 860px)';

/** A simulation, with the function that it stands in. */
export function Player(props: {
  sim: string;
  simulated: Simulated;
  state: State;
  selected: string | null;
  /** The step that the address names. */
  step: number | null;
}) {
  const { sim, simulated, state, selected, step } = props;
  const { name: program, programId } = useLive();
  const navigate = useNavigate();
  const names = useNames();
  const [speed, setSpeed] = useState<number>(SPEEDS[1]);
  const [pane, setPane] = useState<Pane>('graph');
  const [filter, setFilter] = useState<Filter>('all');
  const narrow = useMedia(NARROW);
  const [looked, setLooked] = useState<{ frame: number; at: number } | null>(null);
  const { playing, play, stop } = usePlay(simulated, speed);
  const extent = useLength(sim, simulated.extent);
  const { answer, whyStep, whyNode, whyNot } = useWhy(sim);
  const root = useRef<HTMLDivElement>(null);
  const goto = useRef<HTMLInputElement>(null);
  const keyList = useRef<HTMLDialogElement>(null);
  const { act, busy, refusal, forgive } = simulated;
  const { position, status, stack } = state;
  const lacks = useCaller().lacks('SIMULATE');
  const can = lacks === null ? possible(status, position) : NOTHING;
  const rev = state.program.revision?.number;

  // A call that was looked at is let go when the run moves.
  const innermost = Math.max(0, stack.length - 1);
  const frame = looked && looked.at === position && looked.frame < stack.length ? looked.frame : innermost;
  const place = stack[frame] ?? null;
  const here = frame === innermost;
  const at = (here ? (state.at?.node ?? place?.node) : place?.node) ?? null;
  const functionRef = place?.function ?? state.at?.function ?? state.function?.ref ?? '';
  const stage = useStage(programId, functionRef, rev, at);
  useBack(stage.problem, stage.retry);
  const graph = stage.loaded?.graph;
  const call = useLook(RunCallDocument, here ? null : { id: sim, frame }, position);
  const locals = here ? state.locals : call.fresh ? (call.data?.simulation?.callLocals ?? null) : null;
  const { data: stored } = useLook(RunStoredDocument, status === 'RUNNING' ? null : { id: sim }, 0);
  const marks = useMemo(
    () => (graph ? marksOf(graph, state.breakpoints, at, locals) : new Map()),
    [graph, state.breakpoints, at, locals],
  );

  useEffect(() => root.current?.focus({ preventScroll: true }), []);
  useEffect(() => {
    setTitle(`Step ${position.toLocaleString('en')} of ${state.function?.path ?? 'a run'}`);
  }, [position, state.function?.path]);

  /** The step that the address was last seen to name, or made to. */
  const named = useRef(step);
  const search = useCallback(
    (more: { step: number; node?: string | null }) => {
      named.current = more.step;
      void navigate({
        to: '/p/$program/f/$function/run',
        params: (before) => ({ program, function: before.function ?? functionRef }),
        search: { sim, step: more.step, ...(more.node && { node: more.node }) },
        replace: true,
        resetScroll: false,
      });
    },
    [navigate, program, sim, functionRef],
  );
  // The address follows the run, so that it leads back to this step.
  const moving = playing || status === 'RUNNING' || busy;
  useEffect(() => {
    if (!moving) search({ step: position, node: selected });
    // A selection writes the address itself.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [position, moving]);

  const select = useCallback((ref: string | null) => search({ step: position, node: ref }), [search, position]);
  const setStops = useCallback(
    async (breakpoints: BreakpointInput[]) => (await act({ action: 'SET_BREAKPOINTS', breakpoints })) !== null,
    [act],
  );
  const toggleStop = useCallback(
    (ref: string) => void setStops(toggled(state.breakpoints, ref)),
    [setStops, state.breakpoints],
  );
  const seek = useCallback(
    (step: number) => {
      stop();
      void act({ action: 'SEEK', seekTo: step });
    },
    [act, stop],
  );
  const showFrame = (to: number) => {
    if (to >= 0 && to <= innermost) setLooked({ frame: to, at: position });
  };
  /** Whether breakpoints can be set. */
  const settable = !isOver(status) && lacks === null;
  const goTo = useEffectEvent((step: number) => (can.back || can.forward ? seek(step) : undefined));
  useEffect(() => {
    if (step === null || step === named.current) return;
    named.current = step;
    goTo(step);
  }, [step]);
  const nameOf = (ref: string) => {
    const node = graph?.nodes.get(ref);
    return node?.label ?? node?.title ?? ref;
  };
  const askWhy = (node: string, port: number) => {
    setPane('why');
    void whyNode(nameOf(node), node, port, { position, frame });
  };
  const askStep = (step: StepFragment) => {
    setPane('why');
    void whyStep(step);
  };
  const asked = selected ?? at;

  const command = (command: Command) => {
    if (command !== 'play' && command !== 'keys') stop();
    switch (command) {
      case 'play':
        if (can.pause) return void act({ action: 'PAUSE' });
        return playing ? stop() : can.forward && play();
      case 'step':
        return can.forward && void act({ action: 'STEP' });
      case 'over':
        return can.forward && void act({ action: 'STEP_OVER' });
      case 'out':
        return can.forward && void act({ action: 'STEP_OUT' });
      case 'back':
        return can.back && void act({ action: 'STEP_BACK' });
      case 'run':
        return can.forward && void act({ action: 'RUN' });
      case 'runBack':
        return can.back && void act({ action: 'RUN_BACK' });
      case 'start':
        return can.back && seek(0);
      case 'goto':
        return goto.current?.focus();
      case 'stop':
        return asked !== null && settable && toggleStop(asked);
      case 'why':
        return asked !== null && askWhy(asked, 0);
      case 'whyNot':
        if (asked === null) return;
        setPane('why');
        return void whyNot(nameOf(asked), asked);
      case 'innerFrame':
        return showFrame(frame + 1);
      case 'outerFrame':
        return showFrame(frame - 1);
      case 'keys':
        return keyList.current?.showModal();
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const found = commandOf(event);
    if (!found) return;
    event.preventDefault();
    command(found);
  };
  const onLost = useEffectEvent(onKeyDown);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      // The focus falls to the page where what had it is gone, such as a button of a panel that was closed.
      if (event.target === document.body) onLost(event);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);

  const placeText = state.at ? plainLine(state.at.text) : null;
  const spoken = spokenState(state, placeText && `${placeText} in ${names.get(functionRef)?.path ?? functionRef}`);
  const stops = state.breakpoints.length;
  const tabs: Tab<Pane>[] = [
    ...(narrow
      ? ([
          { id: 'graph', label: 'Graph' },
          { id: 'text', label: 'Text' },
        ] as const)
      : []),
    { id: 'state', label: 'State' },
    { id: 'steps', label: 'Steps' },
    { id: 'stops', label: stops > 0 ? `Breakpoints (${stops})` : 'Breakpoints' },
    { id: 'why', label: 'Why' },
  ];
  const lists = {
    selected,
    onSelect: select,
    onWhy: askWhy,
    watched: state.breakpoints.flatMap(({ watch }) => watch ?? []),
    ...(settable && {
      onWatch: (variable: string) => {
        const rest = state.breakpoints.filter(({ watch }) => watch !== variable).map(inputOf);
        void setStops(rest.length < stops ? rest : [...rest, { watch: variable }]);
      },
    }),
  };
  const lower = pane === 'graph' || pane === 'text' ? 'state' : pane;
  return (
    // The keys of the player work wherever the focus is in it; every one has a button or a field as well.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/no-noninteractive-tabindex
    <div
      ref={root}
      className="player"
      role="group"
      aria-label="Player"
      tabIndex={-1}
      data-pane={pane}
      data-status={status}
      data-position={position}
      data-acting={busy}
      onKeyDown={(event) => onKeyDown(event.nativeEvent)}
    >
      <PlayerHeader
        program={program}
        state={state}
        // Who was not reached is not followed, whatever still stands.
        live={refusal?.code === OFFLINE && simulated.live === 'connected' ? 'reconnecting' : simulated.live}
        functionRef={functionRef}
      />
      <Transport
        can={can}
        lacks={lacks}
        playing={playing}
        busy={busy}
        position={simulated.reached ?? position}
        extent={extent}
        speed={speed}
        field={goto}
        onSpeed={setSpeed}
        onCommand={command}
        onSeek={seek}
        onCancel={() => void act({ action: 'CANCEL' })}
      />
      <p className="hidden" aria-live="polite">
        {playing ? `playing at ${speed.toLocaleString('en')} steps a second` : spoken}
      </p>
      {(isEnded(status) || isOver(status)) && <Outcome state={state} program={program} />}
      {refusal && !refusal.path[0]?.startsWith('breakpoints') && (
        <div className="player-pad">
          <Notice
            tone="error"
            title={refusal.action}
            actions={
              <button type="button" className="button" onClick={forgive}>
                Dismiss
              </button>
            }
          >
            <p className="muted">
              <code>{refusal.code}</code> · <Message>{refusal.message}</Message>
            </p>
          </Notice>
        </div>
      )}
      <div className="player-panes">
        <Scene
          stage={stage}
          marks={marks}
          at={at}
          selected={selected}
          over={!settable}
          panel={narrow && (pane === 'graph' || pane === 'text') ? pane : null}
          rounds={
            graph && place && at && graph.nodes.has(at) && status !== 'RUNNING' ? (
              <Rounds sim={sim} graph={graph} at={at} frame={frame} position={position} />
            ) : null
          }
          onSelect={select}
          onStop={toggleStop}
        >
          {selected !== null && graph && (
            <SelectedNode
              program={program}
              functionRef={functionRef}
              node={selected}
              graph={graph}
              mark={marks.get(selected)}
              over={!settable}
              onStop={() => toggleStop(selected)}
              onWhy={() => askWhy(selected, 0)}
              onWhyNot={() => command('whyNot')}
              onSteps={() => {
                setFilter('node');
                setPane('steps');
              }}
              onClear={() => select(null)}
            />
          )}
          <div className="player-lower">
            <Tabs<Pane>
              label="Panels of the run"
              panel="run-pane"
              tabs={tabs}
              current={narrow ? pane : lower}
              onChange={setPane}
            />
            <div
              className="player-pane"
              {...(!(narrow && lower !== pane) && {
                role: 'tabpanel',
                id: 'run-pane',
                'aria-labelledby': `tab-${lower}`,
              })}
            >
              {lower === 'state' ? (
                <div className="player-state">
                  {stage.loaded && locals ? (
                    <Values head={stage.loaded.head} graph={stage.loaded.graph} locals={locals} lists={lists} />
                  ) : call.problem && !here ? (
                    <p className="muted player-none">
                      <Message>{call.problem.message}</Message>
                    </p>
                  ) : (
                    <SkeletonRows rows={4} height={24} label="Loading the values" />
                  )}
                  <section aria-label="Calls">
                    <h2 className="muted">Calls</h2>
                    <Stack program={program} rev={rev} stack={stack} frame={frame} onFrame={showFrame} />
                  </section>
                  {stored?.simulation?.globals?.length ? <Globals sim={sim} position={position} lists={lists} /> : null}
                  {stored?.simulation?.memory && <Memory sim={sim} position={position} />}
                  <section aria-label="Output">
                    <h2 className="muted">Output</h2>
                    <Output sim={sim} position={position} />
                  </section>
                </div>
              ) : lower === 'steps' ? (
                <Steps
                  sim={sim}
                  position={position}
                  filter={filter}
                  onFilter={setFilter}
                  selected={selected}
                  functionRef={functionRef}
                  next={placeText}
                  onSeek={seek}
                  onWhy={askStep}
                />
              ) : lower === 'stops' ? (
                <fieldset className="stops-set" disabled={lacks !== null} title={lacks ?? undefined}>
                  <legend className="hidden">Breakpoints</legend>
                  <Breakpoints
                    breakpoints={state.breakpoints}
                    refusal={refusal}
                    busy={busy}
                    selected={selected}
                    nameOf={(ref) => {
                      const node = graph?.nodes.get(ref);
                      return (
                        node?.label ??
                        node?.title ??
                        stage.loaded?.head.vars.find((each) => each.ref === ref)?.name ??
                        undefined
                      );
                    }}
                    onSet={setStops}
                    onSelect={select}
                  />
                </fieldset>
              ) : (
                <WhyPanel answer={answer} onSeek={seek} onWhy={askStep} />
              )}
            </div>
          </div>
        </Scene>
      </div>
      {/* What stands above already is not said twice. */}
      {stage.problem && stage.problem.code !== refusal?.code && (
        <div className="player-pad">
          <ProblemPanel problem={stage.problem} onRetry={stage.retry} />
        </div>
      )}
      <KeyList dialog={keyList} />
    </div>
  );
}
