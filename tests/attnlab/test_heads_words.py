"""From word pieces to words, and from words to the words that they attend to."""

import torch

from attnlab import heads

L, B, H, S = 5, 2, 3, 7
# [CLS] knit ##ted a scarf [SEP]; [CLS] birds sing [SEP] and padding
WORD_IDS = torch.tensor([[-1, 0, 0, 1, 2, -1, -1], [-1, 0, 1, -1, -1, -1, -1]])


def random_maps():
    return torch.randn(L, B, H, S, S, dtype=torch.float64).softmax(-1)


def by_hand(maps, pieces_from, pieces_to):
    """Sum over the pieces attended to, then average over the attending pieces: (L, H)."""
    return maps[..., pieces_from, :][..., pieces_to].sum(-1).mean(-1)


def test_attention_to_a_word_is_the_sum_and_from_a_word_the_mean_over_its_pieces():
    maps = random_maps()
    words = heads.merge_word_pieces(maps, WORD_IDS)
    assert words.shape == (L, B, H, 3, 3)
    pieces = [[1, 2], [3], [4]]
    for i, start in enumerate(pieces):
        for j, end in enumerate(pieces):
            torch.testing.assert_close(words[:, 0, :, i, j], by_hand(maps[:, 0], start, end))


def test_words_that_a_shorter_sentence_lacks_attend_to_nothing():
    words = heads.merge_word_pieces(random_maps(), WORD_IDS)
    assert (words[:, 1, :, 2] == 0).all()
    assert (words[:, 1, :, :, 2] == 0).all()
    assert (words[:, 1, :, :2, :2] > 0).all()


def favour(choices):
    """Build maps (1, B, H, W, W) from choices[head][sentence][word], the word favoured most."""
    chosen = torch.tensor(choices).transpose(0, 1)  # (B, H, W)
    return torch.nn.functional.one_hot(chosen, chosen.shape[-1])[None] * 0.5


def test_syntax_score_is_the_share_of_pairs_found_by_each_head():
    first = [[1, 2, 0], [2, 0, 1]]
    second = [[2, 2, 0], [1, 2, 0]]
    pairs = torch.tensor([[0, 0, 1], [0, 1, 2], [1, 0, 2], [1, 1, 2]])
    score = heads.syntax_score(favour([first, second]), pairs)
    torch.testing.assert_close(score, torch.tensor([[3 / 4, 2 / 4]]))


def test_attention_to_itself_does_not_compete():
    weights = torch.tensor([[0.6, 0.3, 0.1], [0.0, 1.0, 0.0], [0.2, 0.3, 0.5]])[None, None]
    pairs = torch.tensor([[0, 0, 1], [0, 2, 1]])
    assert heads.syntax_score(weights, pairs).tolist() == [1.0]


def test_the_offset_baseline_takes_the_most_frequent_distance():
    pairs = torch.tensor([[0, 3, 1], [1, 5, 3], [2, 4, 1], [3, 0, 4]])
    assert heads.best_offset(pairs) == -2
    assert heads.offset_score(pairs, -2) == 2 / 4
    assert heads.offset_score(pairs, 7) == 0


def test_a_positional_head_scores_what_its_offset_scores():
    pairs = torch.tensor([[0, 3, 1], [1, 5, 3], [1, 4, 1], [0, 2, 4]])
    weights = torch.eye(7, dtype=torch.float64).roll(-2, 1).expand(2, 1, 7, 7)  # key = query - 2
    share = heads.syntax_score(weights, pairs)
    assert share.item() == heads.offset_score(pairs, -2) == 2 / 4
