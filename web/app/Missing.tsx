import { Compass } from 'lucide-react';

import { useTitle } from '../lib/title';
import { Empty } from '../ui';

/** For an address that no view has. */
export function Missing() {
  useTitle('No such view');
  return (
    <div className="page narrow">
      <h1 className="hidden">lmlang</h1>
      <Empty icon={Compass} title="There is no such view">
        <p>The address may be mistyped, or of another version.</p>
        <a className="button" href="#/">
          All programs
        </a>
      </Empty>
    </div>
  );
}
