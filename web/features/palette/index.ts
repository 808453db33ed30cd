// Everything by its name, from anywhere.
export { PaletteButton } from './PaletteButton';
