// How the picture draws marks: one program of the graphics card for all shapes, so that what is wrong has a shape of its
// own and not a colour alone.
import { NodeProgram } from 'sigma/rendering';
import type { NodeDisplayData, RenderParams } from 'sigma/types';
import { floatColor } from 'sigma/utils';

import type { Mark } from './picture';

/** What the display data of a mark has beside what Sigma knows. */
export interface Shaped {
  shape: number;
}

const SHAPES = { circle: 0, triangle: 1, diamond: 2, square: 3, module: 4 };

/** The number of a mark's shape: modules as such, functions by their state. */
export function shapeOf({ kind, state }: Pick<Mark, 'kind' | 'state'>): number {
  if (kind === 'module') return SHAPES.module;
  switch (state) {
    case 'fine':
      return SHAPES.circle;
    case 'findings':
      return SHAPES.triangle;
    case 'incomplete':
      return SHAPES.diamond;
    case 'imported':
      return SHAPES.square;
  }
}

// A triangle around the mark, of which the fragment shader keeps the shape.
const VERTEX = /* glsl */ `
attribute vec4 a_id;
attribute vec4 a_color;
attribute vec2 a_position;
attribute float a_size;
attribute float a_shape;
attribute float a_angle;
uniform mat3 u_matrix;
uniform float u_sizeRatio;
uniform float u_correctionRatio;
varying vec4 v_color;
varying vec2 v_at;
varying float v_shape;
varying float v_soft;
const float bias = 255.0 / 254.0;

void main() {
  float size = a_size * u_correctionRatio / u_sizeRatio * 4.0;
  vec2 corner = vec2(cos(a_angle), sin(a_angle));
  // Wide enough for the corners of a square.
  gl_Position = vec4((u_matrix * vec3(a_position + 1.3 * size * corner, 1)).xy, 0, 1);
  v_at = corner * 2.6;
  v_shape = a_shape;
  v_soft = u_correctionRatio / (size / 2.0);
  #ifdef PICKING_MODE
  v_color = a_id;
  #else
  v_color = a_color;
  #endif
  v_color.a *= bias;
}`;

const FRAGMENT = /* glsl */ `
precision highp float;
varying vec4 v_color;
varying vec2 v_at;
varying float v_shape;
varying float v_soft;

// How far a place is outside of the shape, whose radius is 1.
float outside(vec2 at) {
  if (v_shape < 0.5) return length(at) - 0.92;
  if (v_shape < 1.5) return max(abs(at.x) * 0.88 + at.y * 0.5, -at.y) - 0.56;
  if (v_shape < 2.5) return (abs(at.x) + abs(at.y) - 1.15) * 0.707;
  if (v_shape < 3.5) return max(abs(at.x), abs(at.y)) - 0.8;
  vec2 corner = abs(at) - vec2(0.62);
  return length(max(corner, 0.0)) + min(max(corner.x, corner.y), 0.0) - 0.24;
}

void main() {
  float far = outside(v_at);
  #ifdef PICKING_MODE
  if (far > 0.0) gl_FragColor = vec4(0.0);
  else gl_FragColor = v_color;
  #else
  float cover = 1.0 - smoothstep(-v_soft, v_soft, far);
  gl_FragColor = mix(vec4(0.0), v_color, cover);
  #endif
}`;

const UNIFORMS = ['u_sizeRatio', 'u_correctionRatio', 'u_matrix'] as const;
const { FLOAT, UNSIGNED_BYTE, TRIANGLES } = WebGLRenderingContext;
const THIRD = (2 * Math.PI) / 3;

/** Draws marks in their shapes. */
export class ShapeProgram extends NodeProgram<(typeof UNIFORMS)[number]> {
  getDefinition() {
    return {
      VERTICES: 3,
      VERTEX_SHADER_SOURCE: VERTEX,
      FRAGMENT_SHADER_SOURCE: FRAGMENT,
      METHOD: TRIANGLES,
      UNIFORMS,
      ATTRIBUTES: [
        { name: 'a_position', size: 2, type: FLOAT },
        { name: 'a_size', size: 1, type: FLOAT },
        { name: 'a_color', size: 4, type: UNSIGNED_BYTE, normalized: true },
        { name: 'a_id', size: 4, type: UNSIGNED_BYTE, normalized: true },
        { name: 'a_shape', size: 1, type: FLOAT },
      ],
      CONSTANT_ATTRIBUTES: [{ name: 'a_angle', size: 1, type: FLOAT }],
      CONSTANT_DATA: [[0], [THIRD], [2 * THIRD]],
    };
  }

  processVisibleItem(index: number, start: number, data: NodeDisplayData & Partial<Shaped>): void {
    this.array.set([data.x, data.y, data.size, floatColor(data.color), index, data.shape ?? 0], start);
  }

  setUniforms(
    { correctionRatio, sizeRatio, matrix }: RenderParams,
    { gl, uniformLocations }: ShapeProgram['normalProgram'],
  ) {
    gl.uniform1f(uniformLocations['u_correctionRatio'] ?? null, correctionRatio);
    gl.uniform1f(uniformLocations['u_sizeRatio'] ?? null, sizeRatio);
    gl.uniformMatrix3fv(uniformLocations['u_matrix'] ?? null, false, matrix);
  }
}
