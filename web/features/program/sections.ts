import { Activity, Boxes, History, ShieldCheck, Waypoints, type LucideIcon } from 'lucide-react';

/** A view of a program that its bar leads to. */
export interface Section {
  to: '/p/$program' | '/p/$program/edits' | '/p/$program/map' | '/p/$program/history' | '/p/$program/verify';
  label: string;
  icon: LucideIcon;
  /** Whether the views below it have entries of their own. */
  exact: boolean;
}

/** The views of a program, in the order of the bar. */
export const SECTIONS: readonly Section[] = [
  { to: '/p/$program', label: 'Overview', icon: Boxes, exact: true },
  { to: '/p/$program/edits', label: 'Edits', icon: Activity, exact: false },
  { to: '/p/$program/map', label: 'Map', icon: Waypoints, exact: false },
  { to: '/p/$program/history', label: 'History', icon: History, exact: false },
  { to: '/p/$program/verify', label: 'Verification', icon: ShieldCheck, exact: false },
];
