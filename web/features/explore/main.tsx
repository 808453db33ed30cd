// GraphiQL's own collection has the editor's styles a second time, and fonts.
import '@graphiql/react/style.css';
import '@graphiql/plugin-history/style.css';
import '@graphiql/plugin-doc-explorer/style.css';
import 'graphiql/graphiql.css';
import './page.css';
import './monaco';

import { GraphiQL } from 'graphiql';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

import { fetcher } from './fetcher';
import { storage } from './storage';

const welcome = `# The API of lmlang. Press Ctrl-Space for what fits here, Ctrl-Enter to run.
# Subscriptions run too: their events appear on the right as they happen.
# Where the server asks for a token, write {"Authorization": "Bearer lml_..."} into the headers below.

{
  serverInfo {
    name
    version
  }
}
`;

const root = document.getElementById('explore');
if (!root) throw new Error('the page has a place for GraphiQL');

createRoot(root).render(
  <StrictMode>
    <GraphiQL fetcher={fetcher} storage={storage} shouldPersistHeaders={false} defaultQuery={welcome} />
  </StrictMode>,
);
