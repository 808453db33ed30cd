import { GraphiQL } from 'graphiql';

import { useTheme } from '../../lib/theme';
import { fetcher } from './fetcher';
import { READY_TABS } from './ready';
import { storage } from './storage';

/** GraphiQL over the server that the page came from, in the colours of the dashboard, and with the way back to it. */
export function Explore() {
  const { theme } = useTheme();
  return (
    <GraphiQL
      fetcher={fetcher}
      storage={storage}
      forcedTheme={theme}
      shouldPersistHeaders={false}
      defaultTabs={[...READY_TABS]}
      defaultEditorToolsVisibility="variables"
    >
      <GraphiQL.Logo>
        <a className="back" href="/">
          lmlang
        </a>
      </GraphiQL.Logo>
    </GraphiQL>
  );
}
