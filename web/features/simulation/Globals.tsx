import { RunGlobalsDocument } from '../../generated/graphql';
import { Message } from '../../ui';
import { textOf } from './model';
import { useNames } from './names';
import { useLook } from './useLook';
import { KnownList } from './Values';

/** The globals of the program where the run stands. */
export function Globals(props: {
  sim: string;
  position: number;
  lists: Omit<Parameters<typeof KnownList>[0], 'title' | 'list'>;
}) {
  const { sim, position, lists } = props;
  const names = useNames();
  const { data, problem } = useLook(RunGlobalsDocument, { id: sim }, position);
  if (problem)
    return (
      <p className="muted player-none">
        The globals: <Message>{problem.message}</Message>
      </p>
    );
  const known = (data?.simulation?.globals ?? []).map(({ node, value }) => ({
    key: node,
    name: names.get(node)?.name ?? node,
    node: null,
    variable: node,
    port: 0,
    value: textOf(value),
  }));
  return <KnownList title="Globals" list={known} {...lists} />;
}
