import { Link } from '@tanstack/react-router';
import { FunctionSquare, MessageSquarePlus, PencilLine } from 'lucide-react';

import { Allowed } from '../../lib/Allowed';
import { Command, Empty } from '../../ui';

/** What leads on where a program has nothing in it. */
export function NoFunctions({ program }: { program: string }) {
  return (
    <Empty icon={FunctionSquare} title="The program has no functions yet">
      <p>Write some, ask an agent for them, or load a text. What others add appears here by itself.</p>
      <div className="empty-acts">
        <Allowed scope="EDIT" icon={PencilLine} word="Write or load functions">
          <Link to="/p/$program/add" params={{ program }} className="button primary">
            <PencilLine size={14} aria-hidden />
            Write or load functions
          </Link>
        </Allowed>
        <Allowed scope="EDIT" icon={MessageSquarePlus} word="Ask an agent">
          <Link to="/sessions/new" search={{ flow: 'edit', program }} className="button">
            <MessageSquarePlus size={14} aria-hidden />
            Ask an agent
          </Link>
        </Allowed>
      </div>
      <Command>{`lmlang edit ${program} --add-text my.lm`}</Command>
    </Empty>
  );
}
