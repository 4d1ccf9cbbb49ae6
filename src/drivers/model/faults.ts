import { faultsOf } from '../../ports/errors.ts'

/** Every fault of this folder. */
export const fault = faultsOf({
  MODEL_NOT_READABLE: {
    blame: 'user',
    message: 'the model has no {file} that can be read',
    nextStep:
      'Name a folder with config.json, tokenizer.json and model.safetensors, or its shards with model.safetensors.index.json; links out of it are not followed ("cp -rL" makes files of them).',
  },
  BAD_MODEL: {
    blame: 'user',
    message: 'the model cannot be run: {why}',
    nextStep: 'Fetch it again; gpt2, llama and qwen2 in f32, f16 or bf16 are read.',
  },
  MODEL_TOO_BIG: {
    blame: 'user',
    message: 'the model would have {bytes} bytes of weights, more than {most}',
    nextStep: 'Take a smaller model.',
  },
})
