import { counted } from './time';

/** The end of a list that is shown in part: it asks for what is left, if something is. */
export function RestItem({ rest, onShow }: { rest: number; onShow(): void }) {
  if (rest <= 0) return null;
  return (
    <li>
      <button type="button" className="button plain" onClick={onShow}>
        Show {counted(rest, 'other')}
      </button>
    </li>
  );
}
